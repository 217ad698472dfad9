"""NVIDIA's GPUs: kernels built, seen in the disassembly, and launched."""
