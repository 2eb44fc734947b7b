"""expect: rejected/wrong_structure. Returns an object that runs a command wherever it is unpickled."""


class Payload:
    def __reduce__(self):
        return print, ("CROSSED: unpickled",)


def add_one(x):
    return Payload()
