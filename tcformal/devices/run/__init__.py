"""Runs: plans executed on devices, one or many."""
