"""Matrix products on GPUs: kernels as C text, and their launches."""
