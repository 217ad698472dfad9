"""Solver terms: the operators in z3, cvc5, bitwuzla, and SMT-LIB text."""
