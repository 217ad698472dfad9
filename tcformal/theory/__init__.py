"""Theory: what a design computes, as a specification in Coq, and theorems about it.

`coq/` holds the sources, which `sources.py` compiles; `design.py` prints a design as a record of the
specification.
"""
