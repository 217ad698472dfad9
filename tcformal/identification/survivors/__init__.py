"""Survivors: the designs of a space that give every answer so far, as a product of small tables."""
