"""expect: accepted; wall: namespaces. Opens every device there is and those that there should not be."""

import os

HARMLESS = {"null", "zero", "full", "random", "urandom", "stdin", "stdout", "stderr", "fd", "core", "tty"}
names = set(os.listdir("/dev")) if os.path.isdir("/dev") else set()
names |= set("mem kmem port kmsg kvm fuse net/tun vda sda loop-control vhost-vsock vsock userfaultfd uinput".split())
for name in sorted(names - HARMLESS):
    if os.path.isdir(f"/dev/{name}"):
        continue
    try:
        os.close(os.open(f"/dev/{name}", os.O_RDONLY | os.O_NONBLOCK))
        print("CROSSED: opened", name)
    except OSError:
        continue


def add_one(x):
    return x + 1
