"""expect: accepted. Keeps a block for when it is run by hand."""


def add_one(x):
    return x + 1


if __name__ == "__main__":
    print("CROSSED: was run as a script")
