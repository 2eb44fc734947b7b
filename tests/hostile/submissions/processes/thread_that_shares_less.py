"""expect: accepted; wall: seccomp; says: "stopped". Clones threads with descriptors, folders or signal handlers of their own."""

import ctypes

CLONE_VM, CLONE_FS, CLONE_FILES, CLONE_SIGHAND, CLONE_THREAD = 0x100, 0x200, 0x400, 0x800, 0x10000
THREAD = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD
libc = ctypes.CDLL(None, use_errno=True)
stacks = []
for name, missing in (("descriptors", CLONE_FILES), ("folders", CLONE_FS)):
    stacks.append(ctypes.create_string_buffer(1 << 16))
    top = ctypes.c_void_p((ctypes.addressof(stacks[-1]) + (1 << 16)) & ~15)
    # The thread calls getpid and ends.
    made = libc.clone(ctypes.cast(libc.getpid, ctypes.c_void_p), top, THREAD & ~missing, None)
    print("stopped" if made < 0 else f"CROSSED: a thread with {name} of its own")


def add_one(x):
    return x + 1
