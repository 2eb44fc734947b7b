"""Which release of Meshgrade this is; the same as in pyproject.toml."""

VERSION = "0.1.0"
