"""expect: rejected. Raises an error whose class answers for itself, and lies."""


class Meta(type):
    @property
    def __name__(cls):
        raise KeyboardInterrupt

    @property
    def __mro__(cls):
        return (object,)

    def __instancecheck__(cls, instance):
        return True

    def __subclasscheck__(cls, subclass):
        return True


class Hostile(Exception, metaclass=Meta):
    __class__ = MemoryError
    __traceback__ = property(lambda self: self)


def add_one(x):
    raise Hostile
