"""expect: rejected/time_limit. Stops every clock it can reach, then spins."""

import time

for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time", "monotonic_ns"):
    setattr(time, name, lambda: 0)
while True:
    pass


def add_one(x):
    return x + 1
