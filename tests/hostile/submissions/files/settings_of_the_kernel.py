"""expect: accepted; wall: namespaces; says: "stopped". Sets the program that the host runs on every core dump, as root of the host."""

for path in (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe",
    "/proc/sysrq-trigger",
    "/sys/kernel/uevent_helper",
    "/sys/fs/cgroup/cgroup.procs",
    "/sys/fs/cgroup/release_agent",
):
    try:
        with open(path, "r+"):
            print("CROSSED: could write", path)
    except OSError:
        print("stopped")


def add_one(x):
    return x + 1
