"""What claims say of sums: ways from one design to another, exact sums, the order within a spread."""
