"""Sizes as text: short for drawings, exact for tables."""

NOTHING = "\N{EN DASH}"
TIMES = "\N{MULTIPLICATION SIGN}"

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
# A larger number is not a real count of bytes or operations, and floats cannot represent it.
_MOST = 10**18
_DECIMAL = ("FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP")


def bytes_text(count: int | None) -> str:
    """Bytes in the largest binary unit that leaves at least one.

    >>> bytes_text(812), bytes_text(362_624)
    ('812 B', '354.1 KiB')
    """
    return _scaled(count, 1024, _BINARY)


def flops_text(count: int | None) -> str:
    """Floating-point operations in the largest decimal unit that leaves at least one.

    >>> flops_text(1_572_864)
    '1.6 MFLOP'
    """
    return _scaled(count, 1000, _DECIMAL)


def exact_text(count: int | None) -> str:
    """A whole number with thousands separators.

    >>> exact_text(362_624)
    '362,624'
    """
    return NOTHING if count is None or count > _MOST else f"{count:,}"


def _scaled(count: int | None, base: int, units: tuple[str, ...]) -> str:
    if count is None or count > _MOST:
        return NOTHING
    size, unit = float(count), 0
    # 1023.97 would be rounded to "1024.0", so it belongs to the next unit.
    while round(size, 1) >= base and unit < len(units) - 1:
        size, unit = size / base, unit + 1
    return f"{count} {units[0]}" if unit == 0 else f"{size:,.1f} {units[unit]}"
