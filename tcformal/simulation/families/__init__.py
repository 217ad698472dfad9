"""Parametric families: many designs as one DAG whose inputs include the parameters."""
