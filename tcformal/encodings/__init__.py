"""Floating-point formats, and exact values as text."""
