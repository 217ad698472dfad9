"""Tactics that find proofs for the kernel that sums of integers are exact; none is trusted."""
