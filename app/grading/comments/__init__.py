"""Comments of instructors on lines of an attempt."""
