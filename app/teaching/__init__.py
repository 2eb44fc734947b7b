"""What those who teach need: courses, people, insight, learning platforms."""
