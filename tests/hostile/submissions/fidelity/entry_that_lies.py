"""expect: rejected/wrong_value. Is an entry point that answers for itself, and wrongly."""


class Entry:
    __name__ = "add_one"
    __wrapped__ = __code__ = __signature__ = None

    def __call__(self, x):
        return x

    def __eq__(self, other):
        return True

    def __getattr__(self, name):
        return self


add_one = Entry()
