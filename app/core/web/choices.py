"""Parameters of an address that choose among what a page offers."""

from collections.abc import Sequence


def one_of(value: str, known: Sequence[str]) -> str:
    """The value, or empty if it is none of the choices: an old or mistyped address shows everything."""
    return value if value in known else ""
