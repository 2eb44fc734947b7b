"""expect: rejected/wrong_structure. Returns an object that is equal to everything."""


class AlwaysEqual:
    shape, dtype, ndim, size = (2,), "float32", 1, 2

    def __eq__(self, other):
        return True

    def __array__(self, *arguments, **options):
        import numpy as np

        return np.ones(2, np.float32)

    __bool__ = __le__ = __lt__ = __ge__ = lambda *_: True
    __jax_array__ = __array__


def add_one(x):
    return AlwaysEqual()
