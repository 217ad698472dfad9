"""What one dot product did: its sums taken apart, and where two units diverge."""
