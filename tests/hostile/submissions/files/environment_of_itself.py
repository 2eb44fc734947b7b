"""expect: accepted; wall: namespaces. Reads secrets where services keep them: the environment."""

import ctypes
import os

environ = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
names, index = set(os.environ), 0
while environ[index]:
    names.add(environ[index].decode().partition("=")[0])
    print(environ[index].decode())
    index += 1
known = set("HOME LANG PATH JAX_PLATFORMS JAX_ENABLE_X64 NPROC XLA_FLAGS TF_CPP_MIN_LOG_LEVEL PWD LC_CTYPE".split())
for name in names:
    if not name.startswith(("JAX_", "XLA_", "OMP_")) and name not in known:
        print("CROSSED: the environment holds", name)


def add_one(x):
    return x + 1
