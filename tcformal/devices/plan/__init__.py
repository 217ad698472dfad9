"""Plans: the dot products to run on a device."""
