"""expect: accepted; wall: namespaces; says: "stopped". Writes a library into its scratch folder and has it mapped as code."""

import _ctypes
import ctypes

with open(_ctypes.__file__, "rb") as original, open("/tmp/planted.so", "wb") as copy:
    copy.write(original.read())
try:
    ctypes.CDLL("/tmp/planted.so")
    print("CROSSED: mapped its own library")
except OSError:
    print("stopped")


def add_one(x):
    return x + 1
