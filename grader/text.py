"""Text for verdicts: make text from a sandbox safe to store and to show, and format numbers for people."""

from typing import Any


def storable(value: Any) -> Any:
    """Replace what UTF-8 or PostgreSQL cannot store in all strings below `value`: lone surrogates and NUL."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(storable(item) for item in value)
    return value


def in_bytes(number: float) -> str:
    """`136 KiB`, `1.5 MiB`: three significant digits, in the unit that fits."""
    for unit in ("B", "KiB", "MiB"):
        if number < 1024:
            return f"{number:.3g} {unit}" if unit != "B" else f"{number:.0f} B"
        number /= 1024
    return f"{number:.3g} GiB"
