"""expect: accepted; wall: landlock, seccomp; says: "stopped". Puts named pipes where a process outside might read a result and then wait forever."""

import os

for name in ("result", "result.json", "stdout", "verdict.json", "submission.py"):
    try:
        os.mkfifo(f"/tmp/{name}")
        print("CROSSED: made a pipe")
    except OSError:
        print("stopped")


def add_one(x):
    return x + 1
