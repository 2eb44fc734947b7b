"""The shape of a verdict, of its evidence, and of what a grading measures beyond it."""
