"""expect: accepted; wall: seccomp, namespaces; says: "stopped". Connects to a server on the host and to one far away."""

import socket

for address in (("127.0.0.1", int("@port@")), ("192.0.2.1", 53), ("198.51.100.1", 80)):
    try:
        socket.create_connection(address, timeout=0.5)
        print("CROSSED: connected to", address)
    except OSError:
        print("stopped")


def add_one(x):
    return x + 1
