"""Programs over units and recipes of matrix products, shown."""
