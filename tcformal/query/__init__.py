"""Questions about units: one engine answers them, with one verdict."""
