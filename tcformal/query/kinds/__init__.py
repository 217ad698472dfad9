"""The kinds of questions: equality of two designs, a property of one, the errors of two algorithms."""
