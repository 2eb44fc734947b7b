"""Inputs that people write: those of a run, and those of a function without a problem."""
