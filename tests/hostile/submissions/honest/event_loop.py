"""expect: accepted. Runs an event loop."""

import asyncio


async def add(x):
    await asyncio.sleep(0)
    return x + 1


def add_one(x):
    return asyncio.run(add(x))
