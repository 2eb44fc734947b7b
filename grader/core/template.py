"""Fill the places of a text, such as `{{ width }}`, with values."""

import re
from collections.abc import Mapping
from typing import Any

_NAME = re.compile(r"\{\{\s*([A-Za-z_][\w.]*)\s*(?::\s*(bytes)\s*)?\}\}")


def fill(template: str, names: Mapping[str, object]) -> str:
    """Replace each `{{ name }}` in a text. `{{ name:bytes }}` shows a number of bytes with a unit.

    Raises:
      KeyError: a name does not exist.
    """

    def shown(found: re.Match[str]) -> str:
        value: Any = names
        for part in found[1].split("."):
            if not isinstance(value, Mapping) or part not in value:
                raise KeyError(found[1])
            value = value[part]
        if found[2]:
            return bytes_text(value)
        return grouped(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)

    return _NAME.sub(shown, template)


def bytes_text(value: int | float) -> str:
    """Bytes with a binary unit and at most three significant digits after rounding."""
    units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"]
    amount, unit = float(value), 0
    while abs(amount) >= 1024 and unit < len(units) - 1:
        amount, unit = amount / 1024, unit + 1
    return f"{amount:.4g} {units[unit]}"


def grouped(value: int | float) -> str:
    """Format a number so that it can be typed again, long integers in groups of three digits."""
    return f"{value:_}" if isinstance(value, int) and abs(value) >= 10_000 else repr(value)
