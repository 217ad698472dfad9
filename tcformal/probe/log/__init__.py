"""Logs: what devices gave, line by line, written and read back."""
