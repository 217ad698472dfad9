"""Audits: kept answers and claims checked again from their evidence."""
