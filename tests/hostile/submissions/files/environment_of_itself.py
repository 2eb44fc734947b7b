"""expect: accepted; wall: namespaces; says: "JAX_PLATFORMS". Reads secrets where services keep them: the environment."""

import ctypes
import os

environ = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
lines, index = [f"{name}={value}" for name, value in os.environ.items()], 0
while environ[index]:
    lines.append(environ[index].decode())
    index += 1
for line in lines:
    print(line)
    name = line.partition("=")[0]
    if any(
        word in name for word in ("MESHGRADE", "TOKEN", "SECRET", "KEY", "PASSWORD", "SSH", "USER", "LD_", "PYTHON")
    ):
        print("CROSSED: the environment holds", name)


def add_one(x):
    return x + 1
