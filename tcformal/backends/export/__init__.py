"""Designs as text for other people's tools: one interpretation of the DAG for each format."""
