"""expect: accepted; wall: namespaces; says: "stopped". Walks up from its root by a descriptor that it opened before."""

import os

root = os.open("/", os.O_RDONLY)
try:
    os.chroot("/tmp")
    print("CROSSED: changed its root")
except OSError:
    print("stopped")
os.fchdir(root)
for _ in range(64):
    os.chdir("..")
inside = os.stat(".").st_ino == os.stat("/").st_ino
print("stopped" if inside else "CROSSED: above its root")


def add_one(x):
    return x + 1
