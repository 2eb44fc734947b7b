"""Completed tracks, each with a badge that can be shared."""
