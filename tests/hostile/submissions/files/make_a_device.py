"""expect: accepted; wall: namespaces, seccomp; says: "stopped". Creates a new device file for the host's memory or disk."""

import os
import stat

for kind, major, minor in ((stat.S_IFCHR, 1, 1), (stat.S_IFBLK, 254, 0)):
    try:
        os.mknod("/tmp/device", kind | 0o666, os.makedev(major, minor))
        os.close(os.open("/tmp/device", os.O_RDONLY))
        print("CROSSED: made a device")
    except OSError:
        print("stopped")


def add_one(x):
    return x + 1
