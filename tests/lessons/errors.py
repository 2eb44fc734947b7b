"""The errors that lessons claim."""

from collections.abc import Callable


def error_of(function: Callable[[], object], says: str) -> str:
    """Return the exception that a call raises, with the part of its message that a reader would search for.

    Args:
      says: that part, which the lesson shows unchanged, with dots for what comes before it.

    Raises:
      AssertionError: the call raises nothing, or its message, which is then shown, lacks that part.
    """
    try:
        function()
    except Exception as error:  # whichever it is
        name, message = type(error).__name__, str(error)
        assert says in message, f"{name} says {message!r} instead of {says!r}"
        return f"{name}: {'' if message.startswith(says) else '… '}{says}"
    raise AssertionError(f"there is no error that says {says!r}")
