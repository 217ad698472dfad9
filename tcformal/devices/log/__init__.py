"""Logs: the outputs of devices, written line by line and read back."""
