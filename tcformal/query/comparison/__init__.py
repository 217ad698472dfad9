"""Error comparison: which of two algorithms on a unit is further from the exact value?"""
