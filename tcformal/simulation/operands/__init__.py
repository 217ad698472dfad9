"""Inputs of dot products: made, named, coded and decoded."""
