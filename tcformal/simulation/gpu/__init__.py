"""GPUs: memory, copies, launches, and what builds kernels for them."""
