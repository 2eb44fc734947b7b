"""Text for verdicts: what came out of a sandbox, made fit to be kept and shown, and numbers for people."""

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


def in_bytes(number: float) -> str:
    """`136 KiB`, `1.5 MiB`: three digits, in the unit that fits."""
    for unit in ("B", "KiB", "MiB"):
        if number < 1024:
            return f"{number:.3g} {unit}" if unit != "B" else f"{number:.0f} B"
        number /= 1024
    return f"{number:.3g} GiB"
