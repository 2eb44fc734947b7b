"""Calculators of what a step stores, sends and computes, beside measured programs."""
