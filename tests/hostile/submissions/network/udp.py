"""expect: accepted; wall: seccomp, namespaces; says: "stopped". Sends a datagram, for which no connection is needed."""

import socket

try:
    with socket.socket(type=socket.SOCK_DGRAM) as client:
        client.sendto(b"x", ("127.0.0.1", int("@port@")))
    print("CROSSED: sent a datagram")
except OSError:
    print("stopped")


def add_one(x):
    return x + 1
