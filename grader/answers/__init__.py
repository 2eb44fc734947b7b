"""The questions of answer-mode problems, and how answers are read."""
