"""Sums: one step, exact or truncated; CDNA3's two-step sums; and blocks in a design's order."""
