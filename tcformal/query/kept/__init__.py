"""Answers, lemmas and claims as files: kept, served again, and checked again."""
