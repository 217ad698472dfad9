"""Lowering rules: faster instruction sequences for a unit's stages, each with its condition."""
