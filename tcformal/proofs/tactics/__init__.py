"""Ways to cut an equality of two circuits into lemmas."""
