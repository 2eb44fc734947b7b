"""What every room may use: errors and reasons, text, the wire."""
