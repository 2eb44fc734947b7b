"""expect: rejected/error. Raises an error with a traceback of its own making, ten thousand frames long."""

import types


def add_one(x):
    try:
        raise ValueError("\x1b[2J\x1b]0;owned\x07")
    except ValueError as error:
        trace = error.__traceback__
        for number in range(10_000):
            trace = types.TracebackType(trace, trace.tb_frame, 0, number + 1)
        raise error.with_traceback(trace) from None
