"""Probes: devices, plans of dot products, runs of plans, and logs of results."""
