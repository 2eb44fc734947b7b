"""Graded properties of a function: what it returned, and what was seen while it ran."""
