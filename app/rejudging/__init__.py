"""Grade again what was handed in before, show what would change, and let it count once an instructor says so."""
