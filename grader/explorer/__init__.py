"""What is compiled or run without being graded: for the Explorer and for lessons."""
