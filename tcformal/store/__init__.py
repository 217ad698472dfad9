"""Answers, lemmas and claims as records: kept, served again, and pruned."""
