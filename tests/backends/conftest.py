"""A store, and what it complains of."""

from stores import store, told

__all__ = ["store", "told"]
