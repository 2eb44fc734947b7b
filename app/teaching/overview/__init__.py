"""The pages Teach and Admin: what needs an instructor or an owner now."""
