"""Kernels that decode operands where they use them: products of few rows, and dot products row by row."""
