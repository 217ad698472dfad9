"""Long comparisons of the interpretations of every design, which continue where they were cut off."""
