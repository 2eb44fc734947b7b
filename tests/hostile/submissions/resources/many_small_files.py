"""expect: accepted or rejected/time_limit; wall: namespaces. Makes empty files, which take no room that is counted, only the kernel's memory."""

import os

made = 0
try:
    while made < 100_000:
        os.close(os.open(f"/tmp/{made}", os.O_CREAT | os.O_WRONLY))
        made += 1
    print("CROSSED: made", made, "files")
except OSError as error:
    print("stopped:", error.strerror)


def add_one(x):
    return x + 1
