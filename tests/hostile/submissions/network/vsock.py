"""expect: accepted; wall: seccomp; says: "stopped". Talks to the machine's hypervisor: no network namespace divides that family."""

import socket

try:
    socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)
    print("CROSSED: has a vsock socket")
except OSError:
    print("stopped")


def add_one(x):
    return x + 1
