"""expect: accepted; wall: landlock. Opens every device there is and those that there should not be."""

import os

HARMLESS = {"null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "fd", "core"}
names = set("mem kmem port kmsg kvm fuse net/tun vda sda loop-control vhost-vsock vsock userfaultfd uinput".split())
names |= set("ptmx pts/ptmx tty console shm mqueue".split())
try:
    names |= set(os.listdir("/dev"))
except OSError:
    pass
for name in sorted(names - HARMLESS):
    try:
        os.close(os.open(f"/dev/{name}", os.O_RDONLY | os.O_NONBLOCK))
        print("CROSSED: opened", name)
    except OSError:
        continue


def add_one(x):
    return x + 1
