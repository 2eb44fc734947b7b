"""Pairs of submissions that are alike."""
