"""Many pairs of units at once, on the processes of this machine or of a cluster."""
