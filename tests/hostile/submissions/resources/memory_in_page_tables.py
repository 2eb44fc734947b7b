"""expect: accepted or rejected/memory_limit|time_limit|error; wall: memory. Reads one byte in every two megabytes of an empty map: no page is held, but all the tables that lead to them."""

import ctypes

MIB = 1 << 20
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
PROT_READ, MAP_PRIVATE, MAP_ANONYMOUS, MAP_NORESERVE = 1, 2, 0x20, 0x4000
# Room for 2 GiB of tables.
size = (1 << 19) * 2 * MIB
area = libc.mmap(
    None, ctypes.c_size_t(size), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, ctypes.c_long(0)
)
if area in (None, (1 << 64) - 1):
    print("stopped")
else:
    total = 0
    for offset in range(0, size, 2 * MIB):
        total += ctypes.c_ubyte.from_address(area + offset).value
    print("CROSSED: holds 2 GiB of page tables")


def add_one(x):
    return x + 1
