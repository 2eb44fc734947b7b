"""expect: accepted; wall: seccomp, namespaces; says: "stopped". Takes the first process's CPU time away."""

import resource

try:
    resource.prlimit(1, resource.RLIMIT_CPU, (1, 1))
    print("CROSSED: set a limit of another process")
except OSError:
    print("stopped")


def add_one(x):
    return x + 1
