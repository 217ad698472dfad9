"""Views of devices, runs and outputs."""
