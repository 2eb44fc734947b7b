"""expect: rejected; wall: seccomp. Sets itself a limit by which the kernel kills it: a judge might take that for somebody else's doing, and grade it again."""

import resource

try:
    used = resource.getrusage(resource.RUSAGE_SELF)
    second = int(used.ru_utime + used.ru_stime) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (second, second))
except (OSError, ValueError):
    raise PermissionError("stopped") from None
while True:
    pass


def add_one(x):
    return x + 1
