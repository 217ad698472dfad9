"""Plans: which dot products to put to a device."""
