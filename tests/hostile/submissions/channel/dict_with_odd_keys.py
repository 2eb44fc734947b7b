"""expect: rejected/wrong_structure. Returns a dict whose keys are objects with hostile equality."""


class Key:
    __hash__ = object.__hash__

    def __eq__(self, other):
        return True


def add_one(x):
    return {Key(): x + 1, "result": x + 1}
