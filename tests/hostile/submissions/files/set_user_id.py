"""expect: accepted; wall: namespaces, seccomp; says: "looked through True"; says: "stopped". Starts each program that would make it root, and one of its own making."""

import os
import stat

SPECIAL = stat.S_ISUID | stat.S_ISGID


def start(path):
    """A program that starts takes the place of this one, and the answer never comes."""
    try:
        os.execv(path, [path])
    except OSError:
        print("stopped")


seen = 0
for folder in sorted({os.path.realpath(each) for each in ("/bin", "/usr/bin", "/usr/sbin", "/usr/lib", "/lib")}):
    for top, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(top, name)
            seen += 1
            mode = os.lstat(path).st_mode
            if stat.S_ISREG(mode) and mode & SPECIAL:
                start(path)
print("looked through", seen > 100)

MINE = "/tmp/mine"
with open(MINE, "w") as file:
    file.write("#!/bin/sh\n")
try:
    os.chmod(MINE, 0o755 | stat.S_ISUID)
except OSError:
    print("stopped")
start(MINE)
os.remove(MINE)


def add_one(x):
    return x + 1
