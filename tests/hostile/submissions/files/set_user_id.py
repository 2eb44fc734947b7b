"""expect: accepted; wall: namespaces, seccomp. Looks for a program that would make it root, and makes one."""

import os
import stat

for folder in ("/bin", "/usr/bin", "/usr/sbin", "/usr/lib", "/lib"):
    for top, _, names in os.walk(folder):
        for name in names:
            status = os.lstat(os.path.join(top, name))
            if stat.S_ISREG(status.st_mode) and status.st_mode & (stat.S_ISUID | stat.S_ISGID):
                try:
                    flags = os.statvfs(top).f_flag
                except OSError:
                    continue
                if not flags & os.ST_NOSUID:
                    print("CROSSED: found", top, name)


def add_one(x):
    return x + 1
