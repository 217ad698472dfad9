"""Kernels without decoded records: products of few rows, and dot products row by row."""
