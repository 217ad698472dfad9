"""Commands about programs over units, and recipes of matrix products."""
