"""The error of a program, step by step: words, sums, calls, and inputs that come near."""
