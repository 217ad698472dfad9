"""The claims, one module each."""
