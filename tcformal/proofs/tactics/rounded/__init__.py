"""Tactics for sums that are exact and then rounded, one rounding at a time; none is trusted."""
