"""Tactics for units within a spread of exponents: sums as counts of one power of two; none is trusted."""
