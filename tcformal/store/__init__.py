"""The store of a results folder: answers, lemmas and claims as records, served, audited and pruned."""
