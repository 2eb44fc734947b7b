"""expect: accepted; wall: namespaces, landlock; says: "stopped". Writes where all sandboxes of a careless judge can read."""

import os

for folder in ("/dev/shm", "/dev/mqueue", "/run", "/var/tmp", "/dev", "/run/lock", "/"):
    try:
        with open(os.path.join(folder, "planted"), "w") as file:
            file.write("x")
        print("CROSSED: wrote into", folder)
    except OSError:
        print("stopped")


def add_one(x):
    return x + 1
