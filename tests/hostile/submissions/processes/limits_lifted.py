"""expect: accepted; wall: rlimits, seccomp; says: "stopped". Lifts its own limits."""

import resource

for name in ("RLIMIT_DATA", "RLIMIT_FSIZE", "RLIMIT_CPU", "RLIMIT_NOFILE", "RLIMIT_NPROC", "RLIMIT_CORE"):
    try:
        resource.setrlimit(getattr(resource, name), (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        print("CROSSED: lifted", name)
    except (OSError, ValueError):
        print("stopped")


def add_one(x):
    return x + 1
