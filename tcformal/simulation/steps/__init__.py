"""Evaluation of a program's steps on arrays."""
