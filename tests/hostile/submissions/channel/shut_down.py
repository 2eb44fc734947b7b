"""expect: rejected. Closes the channel in one direction only."""

import os
import socket
import stat

for descriptor in range(3, 256):
    try:
        if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            socket.socket(fileno=os.dup(descriptor)).shutdown(socket.SHUT_WR)
    except OSError:
        continue
os._exit(0)


def add_one(x):
    return x + 1
