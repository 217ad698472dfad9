"""Designs: parameters of a unit's arithmetic by stage, their sources and evidence, and the catalogue by
vendor."""
