"""Graded properties of a function: what it returned, and what the spies observed while it ran."""
