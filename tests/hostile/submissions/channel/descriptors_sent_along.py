"""expect: rejected. Sends descriptors with its bytes, hundreds of them, to exhaust the reader."""

import array
import os
import socket
import stat

for descriptor in range(3, 256):
    try:
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            continue
        channel = socket.socket(fileno=os.dup(descriptor))
        rights = array.array("i", [os.open("/dev/null", os.O_RDONLY)] * 200)
        for _ in range(16):
            channel.sendmsg([b"\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
    except OSError:
        continue
os._exit(0)


def add_one(x):
    return x + 1
