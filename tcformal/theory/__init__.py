"""Theory: what a design computes, as a specification in Coq, and theorems about it.

`coq/` holds the sources, which `checked.py` compiles; `design.py` prints a design as a record of the
specification; `constants.py` computes side conditions and constants, `claims.py` and `regions.py` pick the
theorem that makes a claim true, `equality.py` those by which two designs are one, and `instances.py` prints
a theorem as a file for `coqc`.
"""
