"""Sums: one step exactly or truncated, CDNA3's two steps, and a block of steps in a design's order."""
