"""Questions about many pairs of units, in processes of one machine or of a cluster."""
