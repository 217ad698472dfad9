"""Floating-point formats: facts of their encodings, and values as people write them."""
