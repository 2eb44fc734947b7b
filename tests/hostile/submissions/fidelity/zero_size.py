"""expect: rejected/wrong_shape; says: "(0,)". Returns an array with nothing in it, of which everything is true."""


def add_one(x):
    return x[:0]
