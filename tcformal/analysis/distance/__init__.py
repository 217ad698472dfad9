"""How far results are apart: of neighbouring inputs of one unit or program, and of two units on matrices."""
