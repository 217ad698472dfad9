"""Tactics that find proofs of error bounds for the kernel, stage by stage of a sum; none is trusted."""
