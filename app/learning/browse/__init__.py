"""The front page, the list of problems, and what to solve next."""
