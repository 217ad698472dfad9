"""What may have given a result: designs that exist, altered ones, faulty sums; and how likely an accident is."""
