"""expect: accepted; wall: seccomp, namespaces; says: "stopped". Listens to everything on the wire."""

import socket

for family, kind in ((socket.AF_PACKET, socket.SOCK_RAW), (socket.AF_INET, socket.SOCK_RAW)):
    try:
        socket.socket(family, kind, 1)
        print("CROSSED: has a raw socket")
    except OSError:
        print("stopped")


def add_one(x):
    return x + 1
