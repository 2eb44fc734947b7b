"""Courses: assignments, limits and exams, rosters, the gradebook."""
