"""Claims about one unit, proved in steps: lemmas, their composition, and one module per claim."""
