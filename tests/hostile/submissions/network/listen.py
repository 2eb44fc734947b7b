"""expect: accepted; wall: landlock, seccomp; says: "stopped". Opens a port on which a friend could ask for the inputs."""

import socket

try:
    server = socket.create_server(("127.0.0.1", 0))
    print("CROSSED: listens on", server.getsockname())
except OSError:
    print("stopped")


def add_one(x):
    return x + 1
