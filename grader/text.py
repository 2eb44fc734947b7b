"""Text that came out of a sandbox, made fit for every place that it will be kept or shown in."""

from typing import Any


def storable(value: Any) -> Any:
    """Replace, in all strings below `value`, what UTF-8 or PostgreSQL cannot hold: lone surrogates and NUL."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(storable(item) for item in value)
    return value
