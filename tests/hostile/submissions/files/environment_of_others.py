"""expect: accepted; wall: namespaces. Reads what /proc tells of other processes."""

for number in ("self", "1", "2", "thread-self", *map(str, range(3, 100))):
    for name in ("environ", "cmdline", "maps", "mem", "status", "root/etc/passwd", "cwd", "fd/0"):
        try:
            with open(f"/proc/{number}/{name}", "rb") as file:
                print("CROSSED: read", file.name, file.read(100))
        except OSError:
            continue


def add_one(x):
    return x + 1
