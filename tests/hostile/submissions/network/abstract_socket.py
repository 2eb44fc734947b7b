"""expect: accepted; wall: seccomp, namespaces; says: "stopped". Connects to an abstract socket of the host, which no file system hides."""

import socket

try:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("\0@abstract@")
    print("CROSSED: connected")
except OSError:
    print("stopped")


def add_one(x):
    return x + 1
