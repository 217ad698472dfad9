"""Questions about many pairs of units, in parallel on one machine or a cluster."""
