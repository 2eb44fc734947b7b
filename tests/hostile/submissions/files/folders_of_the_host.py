"""expect: accepted; wall: namespaces; says: "stopped". Lists folders that a host has."""

import os

for path in ("/root", "/home", "/var", "/etc", "/sys", "/run", "/boot", "/mnt", "/srv", "@folder@", "@cache@"):
    try:
        found = [name for name in os.listdir(path) if name not in ("ld.so.cache",)]
    except OSError:
        found = []
    print(f"CROSSED: listed {path}: {found[:5]}" if found and not path.startswith("/etc") else "stopped")


def add_one(x):
    return x + 1
