"""Devices that compute dot products, plans of inputs for them, and logs of their results."""
