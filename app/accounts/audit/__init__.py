"""The log of what instructors and owners did to others."""
