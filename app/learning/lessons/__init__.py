"""Lessons, their measured numbers, and runs of the programs in them."""
