"""Faster ways to the values of a unit's stages than operator by operator, each with its condition."""
