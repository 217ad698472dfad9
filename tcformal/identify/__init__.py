"""Identification: the designs that give a device's outputs."""
