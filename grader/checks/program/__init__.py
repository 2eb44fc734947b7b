"""Graded properties of a compiled program. All but two are read from the executable or the exported program."""
