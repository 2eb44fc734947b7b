"""The memory that a verifier's allocator returns. In its own process, since the setting is permanent."""

import subprocess
import sys

SCRIPT = """
import ctypes
from grader.verifier.serve import _zero_fresh_memory

c = ctypes.CDLL(None)
c.aligned_alloc.restype = ctypes.c_void_p
c.aligned_alloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
c.free.argtypes = [ctypes.c_void_p]


def held(size):
    block = c.aligned_alloc(64, size)
    found = ctypes.string_at(block, size)
    ctypes.memset(block, 0x41, size)
    c.free(block)
    return found


for size in (64, 512, 4096, 65536):
    held(size)
assert any(b"A" in held(size) for size in (4096, 65536)), "nothing is left over here, so nothing is proved"
_zero_fresh_memory()
for size in (64, 512, 4096, 65536):
    held(size)
    assert held(size) == bytes(size), size
"""


def test_memory_that_held_something_comes_back_as_zeros() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
