"""Suites: minimal sets of inputs that distinguish many designs."""
