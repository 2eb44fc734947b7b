"""All accounts and their attempts, for instructors and owners."""
