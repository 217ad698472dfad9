"""Witnesses made simpler for people."""
