"""Explanations: the stages of one dot product, and the first divergence of two units."""
