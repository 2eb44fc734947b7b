"""expect: accepted; wall: seccomp; says: "stopped". Opens the kernel's own ciphers, a rich field of bugs."""

import socket

try:
    socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)
    print("CROSSED: has an AF_ALG socket")
except OSError as error:
    print("stopped:", error.strerror)


def add_one(x):
    return x + 1
