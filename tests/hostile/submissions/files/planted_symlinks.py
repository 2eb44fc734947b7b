"""expect: accepted. Puts symbolic links where somebody outside might read a result or clean up."""

import os

for name in ("result", "result.json", "stdout", "stderr", "verdict.json", "submission.py", "core", "out"):
    for target in ("@canary_file@",):
        if not os.path.lexists(f"/tmp/{name}"):
            os.symlink(target, f"/tmp/{name}")
os.symlink("/", "/tmp/root")
os.symlink("/tmp/loop", "/tmp/loop")


def add_one(x):
    return x + 1
