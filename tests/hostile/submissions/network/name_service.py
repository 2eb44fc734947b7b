"""expect: accepted; wall: seccomp, namespaces; says: "stopped". Carries data away in the name it looks up."""

import socket

try:
    print("CROSSED: resolved", socket.getaddrinfo("example.org", 80))
except OSError:
    print("stopped")


def add_one(x):
    return x + 1
