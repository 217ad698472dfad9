"""Plans of refinement: cut points of circuits, and the claims about them, as data for Coq."""
