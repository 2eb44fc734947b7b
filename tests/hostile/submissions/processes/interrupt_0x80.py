"""expect: accepted or rejected/killed; wall: seccomp. Calls the kernel by the 32-bit door, where the numbers mean other calls."""

import ctypes
import mmap

# mov eax, 2 (fork, in 32-bit numbers); int 0x80; cdqe; ret. Without that door it ends by a signal.
code = bytes.fromhex("b802000000cd804898c3")
page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(code)
answer = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
if answer == 0:
    import os

    os._exit(0)
print("stopped" if answer < 0 else "CROSSED: forked through int 0x80")


def add_one(x):
    return x + 1
