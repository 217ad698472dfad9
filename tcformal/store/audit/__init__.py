"""Audit of stored answers and claims: their evidence is checked again."""
