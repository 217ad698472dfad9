"""The error of one sum in terms of the sum of magnitudes."""
