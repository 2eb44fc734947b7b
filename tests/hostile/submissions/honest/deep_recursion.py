"""expect: accepted. Recurses, as far as Python lets it."""


def depth(number):
    return 0 if number == 0 else 1 + depth(number - 1)


def add_one(x):
    return x + depth(700) / 700
