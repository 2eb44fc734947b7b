"""The formulas, each from first principles: plain functions of numbers, without HTTP and without JAX.

Each returns its outputs by name. Inputs that cannot be are refused with `Impossible`, which names the input.
"""
