"""Claims about one unit, and the spread within which two agree: theorem, inputs that refute, or solvers."""
