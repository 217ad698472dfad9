"""Claims about one unit, answered by a theorem, by refuting inputs, or by solvers."""
