"""Which designs give a device's outputs."""
