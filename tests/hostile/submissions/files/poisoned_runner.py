"""expect: accepted; wall: namespaces, landlock; says: "stopped". Rewrites, removes or replaces our own code beside it."""

import os
import sys

runner = sys.modules["grader.core.wire"].__file__
attempts = {
    "write": lambda: open(runner, "a").close(),
    "unlink": lambda: os.unlink(runner),
    "rename": lambda: os.rename(runner, runner + ".old"),
    "chmod": lambda: os.chmod(runner, 0o777),
    "touch": lambda: os.utime(runner),
    "truncate": lambda: os.truncate(runner, 0),
    "label": lambda: os.setxattr(runner, "user.planted", b"x"),
    "link": lambda: os.link(runner, "/tmp/wire.py"),
    "own": lambda: os.chown(runner, os.getuid(), -1),
}
for name, attempt in attempts.items():
    try:
        attempt()
        print("CROSSED: could", name)
    except OSError:
        print("stopped")


def add_one(x):
    return x + 1
