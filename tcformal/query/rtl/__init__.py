"""External RTL of a dot product, compared with a unit."""
