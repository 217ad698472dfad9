"""Whether, and by how much, one of two algorithms on a unit can be further from the exact value."""
