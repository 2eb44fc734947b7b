"""Results as text: short for reading, exact for comparing."""

import math

from app.learning.calculators.calculator import Unit

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_DECIMAL = ("", "k", "M", "G", "T", "P", "E", "Z", "Y")
_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def short_text(value: int | float, unit: Unit) -> str:
    """Three significant digits and a unit.

    >>> short_text(362_624, "bytes"), short_text(0.00123456, "seconds"), short_text(0.3684, "percent")
    ('354 KiB', '1.23 ms', '36.8 %')
    """
    if math.isinf(value):
        return "unlimited"
    if unit == "bytes":
        return _scaled(value, 1024, _BINARY)
    if unit == "flops":
        return _scaled(value, 1000, tuple(f"{each}FLOP" for each in _DECIMAL))
    if unit == "seconds":
        size, name = next((each for each in _SECONDS if abs(value) >= each[0]), _SECONDS[-1])
        return f"{_digits(value / size)} {name}"
    if unit == "percent":
        return f"{_digits(100 * value)} %"
    if unit == "yes":
        return "yes" if value else "no"
    return _digits(value) + (" times" if unit == "times" else "")


def exact_text(value: int | float, unit: Unit) -> str:
    """The whole number, if it is one and the short text rounds it.

    >>> exact_text(362_624, "bytes"), exact_text(812, "bytes"), exact_text(0.5, "percent")
    ('362,624 bytes', '', '')
    """
    if not isinstance(value, int) or unit not in ("bytes", "flops", "count") or abs(value) < 1000:
        return ""
    return f"{value:,}" + {"bytes": " bytes", "flops": " FLOP"}.get(unit, "")


def _scaled(value: int | float, base: int, units: tuple[str, ...]) -> str:
    size, unit = float(value), 0
    while abs(float(f"{size:.3g}")) >= base and unit < len(units) - 1:
        size, unit = size / base, unit + 1
    return f"{_digits(size)} {units[unit]}"


def _digits(value: int | float) -> str:
    if isinstance(value, int) and abs(value) < 10**15:
        return f"{value:,}"
    if abs(value) >= 1e15 or (value and abs(value) < 1e-4):
        return f"{value:.2e}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
