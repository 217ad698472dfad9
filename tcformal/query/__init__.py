"""Questions about units: equality, properties, errors; one engine answers them with one type of verdict.

`separate.py` holds public functions, `engine.py` what they do: a kept answer, a theorem, vectors or solvers,
then replay and shrinking.  The kinds of questions are in `search.py` (two units), `properties.py` (one unit),
`comparison/` (two programs) and `rtl.py` (a unit and a module); `claims/`, `pairs/`, `suites/` ask many.
"""
