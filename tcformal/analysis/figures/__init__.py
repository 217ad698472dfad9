"""Figures of the literature, drawn again, and with real units."""
