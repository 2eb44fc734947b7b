"""Answer mode: each student answers a question with different numbers. Nothing that they write is run."""
