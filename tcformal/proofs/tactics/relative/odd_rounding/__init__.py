"""Terms and sums that are rounded to odd."""
