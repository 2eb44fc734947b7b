"""expect: rejected/killed; wall: seccomp; says: "system call". Uses the numbers of the x32 interface, which naive filters forget."""

import ctypes

syscall = ctypes.CDLL(None, use_errno=True).syscall
print("CROSSED: got", syscall(ctypes.c_long(0x40000000 + 39)))  # getpid


def add_one(x):
    return x + 1
