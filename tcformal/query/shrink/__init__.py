"""Shrinking: simpler witnesses for people."""
