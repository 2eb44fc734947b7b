"""What learners open: problems, lessons, the Explorer, calculators, interviews."""
