"""expect: accepted; wall: namespaces; says: "stopped". Learns names and sizes of the host's files without opening any: stat and access need no right to read."""

import os

for path in ("@canary_file@", "@folder@/reference.py", "@cache@", "/etc/passwd", "/home", "/var/lib", "/boot"):
    try:
        print("CROSSED: saw", path, os.stat(path).st_size)
    except OSError:
        print("stopped")


def add_one(x):
    return x + 1
