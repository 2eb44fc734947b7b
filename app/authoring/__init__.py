"""Versions of problems: uploaded, edited, validated and published by instructors."""
