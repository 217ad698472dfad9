"""Two sums of the same numbers, made in other ways."""
