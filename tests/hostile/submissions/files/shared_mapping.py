"""expect: accepted; wall: seccomp; says: "stopped". Maps a file that all submissions can read as shared, to meet another submission there."""

import mmap
import os

for flags in (mmap.MAP_SHARED, 0x03):  # 0x03 is MAP_SHARED_VALIDATE
    try:
        mmap.mmap(os.open(os.__file__, os.O_RDONLY), 4096, flags, mmap.PROT_READ)
        print("CROSSED: shares a mapping, by flags", flags)
    except OSError:
        print("stopped")


def add_one(x):
    return x + 1
