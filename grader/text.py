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
    """`136 KiB`, `1.5 MiB`, `1,020 MiB`: three significant digits, in the unit that fits."""
    unit = "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if number < 1024:
            break
        number, unit = number / 1024, larger
    if unit == "B":
        return f"{number:.0f} B"
    return f"{number:,.0f} {unit}" if number >= 100 else f"{number:.3g} {unit}"
