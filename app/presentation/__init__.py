"""Verdicts and compiled programs, arranged once for whatever draws them."""
