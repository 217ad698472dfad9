"""Identification: the designs that give a device's outputs, and the recipes that give a product's."""
