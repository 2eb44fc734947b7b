"""expect: accepted; says: "added by a hundred threads". Waits for the ends of many threads of C."""

import ctypes

libc = ctypes.CDLL(None)
count = []


@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
def work(_):
    count.append(1)


def add_one(x):
    for _ in range(100):
        handle = ctypes.c_ulong()
        assert libc.pthread_create(ctypes.byref(handle), None, work, None) == 0
        assert libc.pthread_join(handle, None) == 0
    print("added by a hundred threads" if len(count) % 100 == 0 else len(count))
    return x + 1
