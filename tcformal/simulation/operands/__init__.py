"""Operands of dot products: generation, text forms, and records."""
