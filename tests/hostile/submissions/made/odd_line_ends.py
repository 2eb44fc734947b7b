"""expect: accepted. Mixes every line end there is, and starts with a byte order mark."""


def make():
    return "# one\r# two\r\n# three\x0c\n\tpass if False else None\n".replace("\tpass if False else None\n", "") + (
        "def add_one(x):\r\n    return x + 1\r\n"
    )
