"""expect: rejected/error; says: "SystemExit". Exits politely at import."""

raise SystemExit(0)


def add_one(x):
    return x + 1
