"""expect: rejected/error; wall: seccomp; says: "PermissionError". Runs an event loop, which talks to itself through a pair of sockets."""

import asyncio


async def add(x):
    return x + 1


def add_one(x):
    return asyncio.run(add(x))
