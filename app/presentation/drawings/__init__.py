"""Drawings as SVG: where arrays live, what devices exchange and when, counts and costs."""
