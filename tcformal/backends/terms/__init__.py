"""The vocabulary as solver terms: z3, cvc5, bitwuzla, and SMT-LIB text."""
