"""expect: rejected/error; wall: seccomp; says: "PermissionError". Starts the interpreter a second time."""

import subprocess
import sys

print("CROSSED:", subprocess.run([sys.executable, "-c", "print('ran')"], capture_output=True, text=True).stdout)


def add_one(x):
    return x + 1
