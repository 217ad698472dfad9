"""Programs over units: calls chained over K, and the published algorithms."""
