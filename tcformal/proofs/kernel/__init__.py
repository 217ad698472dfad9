"""The proof kernel: what a proof may be made of, and the check of one; it imports `ir` and `errors` only."""
