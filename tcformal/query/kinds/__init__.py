"""The kinds of questions: equality of two units, a property of one unit, the errors of two algorithms."""
