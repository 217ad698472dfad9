"""Suites: the fewest inputs that tell many designs apart."""
