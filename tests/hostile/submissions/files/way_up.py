"""expect: accepted; wall: landlock, seccomp; says: "stopped". Changes its root, then walks up by a descriptor that it opened before."""

import os

O_PATH = 0o10000000
root = os.open("/", O_PATH)
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
