"""expect: accepted; says: "kept 8 bytes". Keeps an intermediate result in a temporary file."""

import tempfile

import numpy as np


def add_one(x):
    with tempfile.TemporaryFile() as file:
        np.asarray(x).tofile(file)
        print("kept", file.tell(), "bytes")
        file.seek(0)
        return np.fromfile(file, np.float32) + np.float32(1)
