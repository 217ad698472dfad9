"""Exact sums in windows of bounded width, and what their roundings say of the sums without them."""
