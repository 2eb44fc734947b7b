"""expect: accepted; wall: seccomp, namespaces; says: "stopped". Connects by IPv6, which filters for IPv4 forget."""

import socket

try:
    with socket.socket(socket.AF_INET6) as client:
        client.settimeout(0.5)
        client.connect(("::1", int("@port@")))
    print("CROSSED: connected")
except OSError:
    print("stopped")


def add_one(x):
    return x + 1
