"""Devices outside of the package that answer in lines of JSON: programs, and people with a file."""
