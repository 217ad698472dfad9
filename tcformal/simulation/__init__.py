"""Simulation of a unit on arrays: matrix products on the CPU, on GPUs, and by a library's recipe."""
