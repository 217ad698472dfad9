"""Theory: what a design computes, as a specification in Coq, and theorems about it.

`coq/` holds the sources, which `sources.py` compiles; `design.py` prints a design as a record of the
specification; `conditions.py` and `constants.py` compute side conditions and constants, `claims.py` and
`errors.py` pick the theorem that makes a claim true, and `instances.py` prints it as a file for `coqc`.
"""
