"""Errors of units and programs: bounds and inputs that attain them, distances, figures, papers."""
