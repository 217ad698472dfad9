"""Refinement: that a unit's circuit computes what its design does, from words to words.

A unit's circuit, the plan of its cut points and the claims about them are data for `coq/Unit.v`, whose
theorem `words_to_words` says that the claims suffice.  Each claim is decided by a solver whose proof is
checked.  The plan is read off the stage records and not trusted: a wrong cut point makes a claim false, or
Coq refuse the unit.
"""
