"""The steps of a program on arrays."""
