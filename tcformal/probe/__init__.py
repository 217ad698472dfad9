"""Devices, plans for them, runs of plans, and logs of results."""
