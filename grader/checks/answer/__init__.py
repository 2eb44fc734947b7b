"""Graded properties of the answers that a student wrote."""
