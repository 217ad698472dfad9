"""Matrix products on GPUs: kernels as C text, and how they are launched."""
