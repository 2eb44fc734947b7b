"""expect: accepted. Works in threads."""

import concurrent.futures


def add_one(x):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return list(pool.map(lambda _: x + 1, range(32)))[-1]
