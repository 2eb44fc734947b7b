"""What students of mode answer are asked, and how their answers are read."""
