"""Reproduced figures of the literature, also for real units."""
