"""Runs: plans put to devices, one or many."""
