"""Vendor units: rules and parameter tables that generate every legal name."""
