"""The catalogue of problems and tracks, and the store of packages."""
