"""expect: accepted or rejected/memory_limit; says: "stopped". Leaves data in as many pipes as it can open, each as wide as can be."""

import fcntl
import os

taken, kept = 0, []
try:
    while True:
        reader, writer = os.pipe2(os.O_NONBLOCK)
        kept += [reader, writer]
        try:
            fcntl.fcntl(writer, 1031, 1 << 20)  # F_SETPIPE_SZ
        except OSError:
            pass
        try:
            while True:
                taken += os.write(writer, b"1" * 4096)
        except BlockingIOError:
            pass
except OSError:
    print("stopped at", taken >> 20, "MiB")
if taken > 512 << 20:
    print("CROSSED: holds", taken >> 20, "MiB")
for descriptor in kept:
    os.close(descriptor)


def add_one(x):
    return x + 1
