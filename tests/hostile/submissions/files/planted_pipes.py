"""expect: accepted; wall: landlock, seccomp; says: "stopped". Puts named pipes where somebody outside might read a result, and so wait for ever."""

import os

for name in ("result", "result.json", "stdout", "verdict.json", "submission.py"):
    try:
        os.mkfifo(f"/tmp/{name}")
        print("CROSSED: made a pipe")
    except OSError:
        print("stopped")


def add_one(x):
    return x + 1
