"""Designs: parameters of units by stage, their sources and evidence, and the catalogue by vendor."""
