"""The sizes of the random items of a campaign."""

from __future__ import annotations

#: Random dot products of the first item of a unit, and of each further one at most.
FIRST_CHUNK, CHUNK = 12_000, 120_000


def chunk_sizes(vectors: int) -> list[int]:
    """The sizes of the random items that make up `vectors`: a small one first."""
    sizes = [min(vectors, FIRST_CHUNK)] if vectors else []
    while sum(sizes) < vectors:
        sizes.append(min(CHUNK, vectors - sum(sizes)))
    return sizes
