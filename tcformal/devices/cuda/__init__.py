"""NVIDIA GPUs: kernels are built, disassembled to check the instruction, and launched."""
