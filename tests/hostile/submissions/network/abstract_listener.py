"""expect: accepted; wall: seccomp; says: "stopped". Opens an abstract socket under a name that another submission can know."""

import socket

try:
    server = socket.socket(socket.AF_UNIX)
    server.bind("\0meshgrade-hostile")
    server.listen()
    print("CROSSED: listens")
except OSError:
    print("stopped")


def add_one(x):
    return x + 1
