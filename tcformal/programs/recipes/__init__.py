"""Recipes of matrix products: how a library splits K over accumulators and puts their results together."""
