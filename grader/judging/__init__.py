"""The one path from a submission to a verdict, and what it keeps between gradings."""
