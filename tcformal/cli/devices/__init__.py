"""Commands about devices and their outputs."""
