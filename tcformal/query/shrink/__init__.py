"""Shrinking of witnesses for human readers."""
