"""Other people's RTL of a dot product, compared with a unit."""
