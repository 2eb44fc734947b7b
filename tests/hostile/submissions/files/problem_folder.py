"""expect: accepted; wall: namespaces; says: "stopped". Reads the reference and the hidden cases of its own problem."""

import glob
import os

for name in ("reference.py", "cases.py", "editorial.md"):
    try:
        with open(os.path.join("@folder@", name)) as file:
            print("CROSSED: read", file.name, file.read())
    except OSError:
        print("stopped")
for pattern in ("/opt/**/reference.py", "/*/problems/*/reference.py", "/tmp/**/reference.py"):
    for path in glob.glob(pattern, recursive=True):
        print("CROSSED: found", path)


def add_one(x):
    return x + 1
