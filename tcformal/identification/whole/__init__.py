"""Whole matrix products that can be called: the order of their sums, and the unit that gives them."""
