"""Theory: what a design computes, as a specification in Coq, and theorems about it.

`coq/` holds the sources; `design.py` prints a design as a record of the specification; `sources.py` compiles them.
"""
