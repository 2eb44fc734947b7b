"""Read a compiled program: what its devices exchange, compute and store."""
