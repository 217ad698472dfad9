"""Devices that compute dot products: processors, GPUs, models, programs, recordings."""
