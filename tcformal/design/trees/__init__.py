"""The order of summation as a structure: trees of sums, and the usual arrangements."""
