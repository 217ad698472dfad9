"""A unit on arrays: matrix products by operator, by compiled kernel, on GPUs, and by a library's recipe."""
