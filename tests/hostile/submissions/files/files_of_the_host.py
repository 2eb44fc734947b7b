"""expect: accepted; wall: namespaces; says: "stopped". Reads what every user of the host may read."""

for path in ("@canary_file@", "/etc/passwd", "/etc/shadow", "/etc/hostname", "/etc/machine-id", "/root/.bashrc"):
    try:
        with open(path) as file:
            print("CROSSED: read", path, file.read(200))
    except OSError:
        print("stopped")


def add_one(x):
    return x + 1
