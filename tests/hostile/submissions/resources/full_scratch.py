"""expect: accepted; wall: namespaces; says: "stopped". Fills the scratch folder."""

import errno

written = 0
try:
    for number in range(64):
        with open(f"/tmp/{number}", "wb") as file:
            for _ in range(16):
                written += file.write(b"1" * (1 << 20))
    print("CROSSED: wrote", written)
except OSError as error:
    print("stopped:", errno.errorcode[error.errno])


def add_one(x):
    return x + 1
