"""expect: accepted; wall: seccomp; says: "stopped". Asks the kernel about the network, or for more, by netlink."""

import socket

try:
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)
    print("CROSSED: has a netlink socket")
except OSError:
    print("stopped")


def add_one(x):
    return x + 1
