"""Reads a problem folder, and finds what is wrong with it before and after it is judged."""
