"""expect: rejected/error. Raises an error whose text cannot be read, never ends, or is not text."""


class Hostile(Exception):
    def __str__(self):
        raise SystemExit("CROS" + "SED: ended the runner")

    __repr__ = __str__


def add_one(x):
    raise Hostile from Hostile()
