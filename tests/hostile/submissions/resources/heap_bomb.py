"""expect: rejected/memory_limit; says: "768 MiB". Takes memory until it is stopped."""

hoard = []
while True:
    hoard.append(b"1" * (16 << 20))


def add_one(x):
    return x + 1
