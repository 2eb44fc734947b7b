"""The errors that lessons claim."""

from collections.abc import Callable


def error_of(function: Callable[[], object]) -> str:
    """The name of the exception that a call raises, which is the answer of a claim."""
    try:
        function()
    except Exception as error:
        return type(error).__name__
    return "no error"
