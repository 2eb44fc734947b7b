"""Graded properties of a compiled program: all but two are read from the executable that was run."""
