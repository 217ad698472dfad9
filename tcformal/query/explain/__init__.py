"""Explanations: every sum of one dot product, and the first divergence of two units."""
