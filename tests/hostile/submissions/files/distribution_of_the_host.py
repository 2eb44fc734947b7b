"""expect: accepted; wall: namespaces; says: "stopped". Reads which distribution the host runs, and which release of it."""

found = []
for path in (
    "/etc/os-release",
    "/usr/lib/os-release",
    "/etc/lsb-release",
    "/etc/debian_version",
    "/etc/redhat-release",
    "/etc/issue",
    "/proc/version",
):
    try:
        with open(path) as file:
            found += file.read().split()
    except OSError:
        pass
print(f"CROSSED: {found}" if found else "stopped")


def add_one(x):
    return x + 1
