"""expect: rejected/time_limit; says: "waiting". Waits for a descriptor that never becomes ready."""

import os
import select

select.select([os.pipe()[0]], [], [])


def add_one(x):
    return x + 1
