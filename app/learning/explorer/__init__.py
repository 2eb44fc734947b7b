"""What a source compiles to, for a problem or a function, without a verdict."""
