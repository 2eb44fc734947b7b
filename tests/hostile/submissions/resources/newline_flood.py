"""expect: rejected/output_limit|time_limit. Prints empty lines without end, in Python."""

while True:
    print("\n" * 8192)


def add_one(x):
    return x + 1
