"""expect: accepted; wall: seccomp; says: "stopped". Gives each thread its own table of descriptors, and fills pipes in all of them."""

import ctypes
import os
import threading

MORE_THAN_ALL, UNSHARE, CLONE_FILES = 0xFFFFFFFE, 2, 0x400
libc = ctypes.CDLL(None, use_errno=True)
full = []
together = threading.Barrier(4, timeout=30)


def fill():
    apart = libc.syscall(436, *map(ctypes.c_long, (MORE_THAN_ALL, MORE_THAN_ALL, UNSHARE))) == 0
    apart = apart or libc.unshare(CLONE_FILES) == 0
    ends = []
    for _ in range(80 if apart else 0):
        ends += os.pipe2(os.O_NONBLOCK)
        full.append(os.write(ends[-1], b"1" * 65536))
    together.wait()
    for end in ends:
        os.close(end)


threads = [threading.Thread(target=fill) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(f"CROSSED: {sum(full) >> 20} MiB in {len(full)} pipes" if full else "stopped")


def add_one(x):
    return x + 1
