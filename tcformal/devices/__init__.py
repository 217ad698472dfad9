"""Devices that compute dot products, plans of probes, runs of plans, and logs of results."""
