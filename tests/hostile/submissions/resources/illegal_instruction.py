"""expect: rejected/killed; says: "SIGILL". Executes an invalid instruction."""

import ctypes
import mmap

page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(b"\x0f\x0b")
ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()


def add_one(x):
    return x + 1
