"""expect: rejected/memory_limit; pair: pairs/memory_right. Takes more memory than it may."""

hoard = []
while True:
    hoard.append(b"1" * (16 << 20))


def add_one(x):
    return x + 1
