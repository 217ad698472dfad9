"""A unit on arrays: matrix products, and how far those of two units differ."""
