"""What may have given a result: units that exist, altered ones, and sums with faults."""
