"""Distances of results: between two units, and between neighbouring inputs of one unit or program."""
