"""Properties of one unit, and the question whether one holds on every input."""
