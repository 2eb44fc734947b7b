"""Answer mode: a student answers a question with numbers of their own. Nothing that they write is run."""
