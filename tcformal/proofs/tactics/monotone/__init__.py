"""Tactics for claim `monotonicity`: roundings keep the order of numbers; none is trusted."""
