"""Products of matrices as a unit computes them, and how far those of two units differ."""
