"""Forward error analysis of a program: words, sums, calls, and inputs that come near the bound."""
