"""expect: accepted; wall: seccomp, namespaces. Has the kernel kill the parent, as the owner of a descriptor that becomes ready."""

import fcntl
import os
import signal

F_SETSIG = 10
parent = os.getppid()
reader, writer = os.pipe()
try:
    fcntl.fcntl(reader, fcntl.F_SETOWN, parent)
    fcntl.fcntl(reader, F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(writer, b"x")
except OSError as error:
    print("stopped:", error.strerror)
if os.getppid() != parent:
    print("CROSSED: killed its parent")


def add_one(x):
    return x + 1
