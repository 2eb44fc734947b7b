"""expect: accepted; wall: landlock, seccomp; says: "stopped". Executes a program that was never a file."""

import ctypes
import errno
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
try:
    program = os.memfd_create("program")
    with open(os.path.realpath(sys.executable), "rb") as file:
        os.sendfile(program, file.fileno(), 0, 1 << 26)
except OSError:
    program = os.open(sys.executable, os.O_RDONLY)
arguments = (ctypes.c_char_p * 5)(b"python", b"-I", b"-c", b"print('CROSSED: executed', flush=True)", None)
AT_EMPTY_PATH = 0x1000
libc.syscall(322, ctypes.c_long(program), b"", arguments, (ctypes.c_char_p * 1)(None), ctypes.c_long(AT_EMPTY_PATH))
print("stopped:", errno.errorcode[ctypes.get_errno()])


def add_one(x):
    return x + 1
