"""expect: accepted; wall: seccomp; says: "stopped". Drops pages of a shared file from memory and reads others ahead, for somebody else to feel by the clock."""

import mmap
import os

file = os.open(os.__file__, os.O_RDONLY)
for advice in (os.POSIX_FADV_DONTNEED, os.POSIX_FADV_WILLNEED):
    try:
        os.posix_fadvise(file, 0, 0, advice)
        print("CROSSED: gave the file advice", advice)
    except OSError:
        print("stopped")
area = mmap.mmap(file, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ)
for advice in (mmap.MADV_WILLNEED, 20, 21, 22, 25):  # cold, page out, populate, collapse
    try:
        area.madvise(advice)
        print("CROSSED: gave the mapping advice", advice)
    except OSError as error:
        print("stopped", error.errno)


def add_one(x):
    return x + 1
