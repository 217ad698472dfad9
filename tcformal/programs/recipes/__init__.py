"""Recipes of matrix products: how a library splits K over accumulators and combines them."""
