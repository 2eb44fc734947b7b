"""expect: accepted. Returns the right numbers in the other byte order: they are numbers, not bytes."""

import numpy as np


def add_one(x):
    return (np.asarray(x) + 1).astype(">f4")
