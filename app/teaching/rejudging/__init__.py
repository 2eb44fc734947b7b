"""Grades earlier attempts again, shows what would change, and changes it once an instructor applies it."""
