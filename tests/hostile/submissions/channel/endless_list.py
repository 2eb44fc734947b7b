"""expect: rejected/wrong_structure|time_limit|error. Returns a list whose iterator never ends."""


class Endless(list):
    def __iter__(self):
        while True:
            yield 1.0


def add_one(x):
    return Endless([x + 1])
