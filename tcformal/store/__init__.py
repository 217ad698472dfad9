"""The store of a results folder: answers, lemmas and claims as records, with audit and pruning."""
