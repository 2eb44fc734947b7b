"""What Ctrl-K finds, by the rights of the person who searches."""
