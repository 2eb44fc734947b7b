"""Finds text that someone typed in the columns of a table, in any case."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, func, or_

_LONGEST = 100


def has_text(part: str, columns: Iterable[Any]) -> ColumnElement[bool]:
    """The condition that one of these columns contains the text."""
    text = database_text(part)
    # SQLite knows the lower case of ASCII alone.
    conditions = [
        condition
        for each in columns
        for condition in (
            func.lower(each).contains(text.lower(), autoescape=True),
            each.contains(text, autoescape=True),
        )
    ]
    return or_(*conditions)


def database_text(part: str) -> str:
    """The text as a database takes it."""
    return part[:_LONGEST].replace("\0", "").encode(errors="replace").decode()
