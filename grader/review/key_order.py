"""Make a version of the reference that returns its dicts with the keys in the opposite order."""

_REVERSING = """

def __reversing(inner):
    def reordered(value):
        if isinstance(value, dict):
            return {{key: reordered(value[key]) for key in reversed(value)}}
        return type(value)(map(reordered, value)) if type(value) in (list, tuple) else value

    return lambda *inputs: reordered(inner(*inputs))


{entry} = __reversing({entry})
"""


def with_keys_reversed(source: str, entry: str) -> str:
    """Return a source whose function `entry` returns the same values, with the keys of each dict reversed."""
    return source + _REVERSING.format(entry=entry)
