"""expect: accepted; wall: landlock, seccomp; says: "stopped". Puts symbolic links where somebody outside might read a result or clean up."""

import os

for name in ("result", "result.json", "stdout", "stderr", "verdict.json", "submission.py", "core", "out"):
    for target in ("@canary_file@", "/", f"/tmp/{name}"):
        try:
            os.symlink(target, f"/tmp/{name}")
        except OSError:
            print("stopped")


def add_one(x):
    return x + 1
