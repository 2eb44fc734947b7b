"""expect: accepted; wall: namespaces; says: "stopped". Becomes root again."""

import os

for become in (os.setuid, os.setgid, lambda _: os.setresuid(0, 0, 0), lambda _: os.setgroups([0])):
    try:
        become(0)
        print("CROSSED: is root")
    except OSError:
        print("stopped")
if 0 in (*os.getresuid(), *os.getresgid(), *os.getgroups()):
    print("CROSSED: was root all along")


def add_one(x):
    return x + 1
