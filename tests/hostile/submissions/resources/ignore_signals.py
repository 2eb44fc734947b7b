"""expect: rejected/time_limit. Ignores every signal that can be ignored, then spins."""

import signal

for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        continue
while True:
    pass


def add_one(x):
    return x + 1
