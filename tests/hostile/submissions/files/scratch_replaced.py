"""expect: accepted. Takes its scratch folder's permissions away and moves what it can."""

import os

for attempt in (
    lambda: os.chmod("/tmp", 0),
    lambda: os.rename("/tmp", "/tmp2"),
    lambda: os.rmdir("/tmp"),
    lambda: os.symlink("/etc", "/tmp"),
):
    try:
        attempt()
    except OSError:
        continue


def add_one(x):
    return x + 1
