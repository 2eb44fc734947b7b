"""expect: accepted; wall: namespaces. Looks for a shell or a compiler to go on with."""

import shutil

for name in ("sh", "bash", "busybox", "gcc", "ld", "curl", "mount", "su", "sudo", "bwrap", "newuidmap"):
    for folder in ("/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin"):
        if shutil.which(name, path=folder):
            print("CROSSED: found", folder, name)


def add_one(x):
    return x + 1
