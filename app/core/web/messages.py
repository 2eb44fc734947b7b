"""Formats the judge's texts and numbers for a page: `code` in a message, prose before values, short numbers."""

import math
import re
from itertools import takewhile

from markupsafe import Markup

_CODE = re.compile(r"`([^`\n]{1,200})`")
_DECIMAL = re.compile(r"[+-]?[0-9]+\.[0-9]+(e[+-]?[0-9]+)?|[+-]?[0-9]+e[+-]?[0-9]+")
_DIGITS = 3
# The line with which the judge begins a traceback.
_RAISED = "Your code raised an exception:"


def code_spans(text: str) -> Markup:
    """Turn text between backticks into code. Everything is escaped, and a single backtick stays as it is."""
    parts = _CODE.split(text)
    pieces = (Markup("<code>{}</code>" if place % 2 else "{}").format(part) for place, part in enumerate(parts))
    return Markup("").join(pieces)


def prose_of(message: str) -> tuple[str, ...]:
    """The paragraphs with which a message begins, a line each; none if it begins with a traceback."""
    first, *others = message.split("\n")
    return (first, *takewhile(_ends_a_sentence, others)) if _is_prose(first) else ()


def listing_of(message: str) -> str:
    """The lines below the prose: inputs, values or a traceback. They are aligned by column."""
    return "\n".join(message.split("\n")[len(prose_of(message)) :])


def without_traceback(message: str, shown: str) -> str:
    """The message without its traceback if `shown`, a message at the top of the same page, has the same one."""
    frames = [line for line in listing_of(message).split("\n") if line.startswith("  ")]
    if not frames or frames != [line for line in listing_of(shown).split("\n") if line.startswith("  ")]:
        return message
    others = [line for line in message.split("\n") if line not in frames and line != _RAISED]
    return "\n".join(["The traceback is at the top of the verdict.", *others])


def _is_prose(line: str) -> bool:
    return bool(line) and not line.startswith("Traceback")


def _ends_a_sentence(line: str) -> bool:
    return line[:1].isalnum() and line.endswith((".", ".)", "?")) and _is_prose(line)


def short_number(value: object) -> str | None:
    """A decimal number, or its text, with three significant digits; None for other text or fewer digits."""
    if not (isinstance(value, float) or (isinstance(value, str) and _DECIMAL.fullmatch(value))):
        return None
    # "#" keeps a zero at the end: 1.90 says that the third digit is known.
    short = f"{float(value):#.{_DIGITS}g}".removesuffix(".")
    return short if math.isfinite(float(value)) and float(short) != float(value) else None
