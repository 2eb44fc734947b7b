"""Formats the judge's texts and numbers for a page: `code` in a message, prose before a traceback, short numbers."""

import math
import re

from markupsafe import Markup

_CODE = re.compile(r"`([^`\n]{1,200})`")
_DECIMAL = re.compile(r"[+-]?[0-9]+\.[0-9]+(e[+-]?[0-9]+)?|[+-]?[0-9]+e[+-]?[0-9]+")
_DIGITS = 3


def code_spans(text: str) -> Markup:
    """Turn text between backticks into code. Everything is escaped, and a single backtick stays as it is."""
    parts = _CODE.split(text)
    pieces = (Markup("<code>{}</code>" if place % 2 else "{}").format(part) for place, part in enumerate(parts))
    return Markup("").join(pieces)


def prose_of(message: str) -> str:
    """The sentence with which a message begins; empty if it begins with a traceback."""
    first = message.partition("\n")[0]
    return "" if first.startswith("Traceback") else first


def listing_of(message: str) -> str:
    """The lines below the sentence: inputs, values or a traceback. They are aligned by column."""
    return message if message and not prose_of(message) else message.partition("\n")[2]


def short_number(value: object) -> str | None:
    """A decimal number, or its text, with three significant digits; None where it is none or has no more of them."""
    if not (isinstance(value, float) or (isinstance(value, str) and _DECIMAL.fullmatch(value))):
        return None
    # "#" keeps a zero at the end: 1.90 says that the third digit is known.
    short = f"{float(value):#.{_DIGITS}g}".removesuffix(".")
    return short if math.isfinite(float(value)) and float(short) != float(value) else None
