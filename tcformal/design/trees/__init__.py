"""Summation trees, and builders of the usual ones."""
