"""Where students stop, and which mistakes they make."""
