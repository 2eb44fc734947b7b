"""expect: accepted; wall: seccomp; says: "stopped". Asks since when the host has been up, and how much memory it has."""

import ctypes
import errno
import os

libc = ctypes.CDLL(None, use_errno=True)
answer = libc.sysinfo(ctypes.create_string_buffer(256))
said = "success" if answer >= 0 else errno.errorcode[ctypes.get_errno()]
print("stopped" if said == "EPERM" else f"CROSSED: {said}")
for path in ("/proc/uptime", "/proc/loadavg", "/proc/meminfo", "/proc/stat"):
    if os.path.exists(path):
        print("CROSSED:", path)


def add_one(x):
    return x + 1
