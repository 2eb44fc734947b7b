"""expect: accepted; says: "looked through". Looks for the folder of the service in scripts, in compiled files and in what they were made from."""

import os
import sys

HERE = ("/opt/meshgrade", sys.base_prefix, "/usr", "/lib", "/bin")
seen = 0


def check(path, what):
    if what.startswith("/") and not what.startswith(HERE):
        print("CROSSED:", path, "names", what[:80])


for folder in (os.path.join(sys.prefix, "bin"), "/opt/meshgrade/grader"):
    for root, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(root, name)
            with open(path, "rb") as file:
                head = file.read(4096)
            seen += 1
            if head.startswith(b"#!"):
                check(path, head[2:].split(b"\n")[0].split(b" ")[0].decode())
            if name.endswith(".pyc") or name.startswith("activate"):
                print("CROSSED:", path)
for module in list(sys.modules.values()):
    code = getattr(getattr(module, "main", None), "__code__", None)
    check(module.__name__, getattr(module, "__file__", None) or "")
    check(module.__name__, code.co_filename if code else "")
print("looked through", seen > 5)


def add_one(x):
    return x + 1
