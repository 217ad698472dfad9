"""What computes dot products: processors, GPUs, models, programs, recordings."""
