"""expect: accepted or rejected. Sets itself limits under which our own code beside it cannot go on."""

import resource

for name in ("RLIMIT_NOFILE", "RLIMIT_AS", "RLIMIT_STACK", "RLIMIT_FSIZE"):
    try:
        resource.setrlimit(getattr(resource, name), (1, 1))
    except (OSError, ValueError):
        continue


def add_one(x):
    return x + 1
