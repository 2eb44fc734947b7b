"""expect: rejected/output_limit. Prints the last of 64 MiB just before its result, when output is about to be sealed."""

import os


def add_one(x):
    result = x + 1
    result.block_until_ready()
    for _ in range(1024):
        os.write(1, b"x" * 65536)
    os.write(1, b"x" * 4096)
    return result
