"""Asking a device: each input once, some several times, and the layout of its operands."""
