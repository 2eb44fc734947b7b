"""expect: accepted; says: "cut". Prints one line of ten million characters."""

print("x" * 10_000_000)


def add_one(x):
    return x + 1
