"""Child processes: start, supervision, termination."""
