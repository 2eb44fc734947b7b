"""How to fix a missing wall, as commands if possible."""

INSTALL_BWRAP = (
    "install bubblewrap: `apt-get install bubblewrap` (Debian, Ubuntu), `dnf install bubblewrap` (Fedora), "
    "`pacman -S bubblewrap` (Arch)"
)
ALLOW_USER_NAMESPACES = (
    "allow user namespaces: `sysctl -w kernel.unprivileged_userns_clone=1` (Debian), "
    "`sysctl -w kernel.apparmor_restrict_unprivileged_userns=0` (Ubuntu 24.04 and newer), "
    "`sysctl -w user.max_user_namespaces=10000` if it is lower; in a container, run it with a seccomp profile that "
    "allows `clone` and `unshare` with namespace flags"
)
READABLE_PYTHON = (
    "let others read the checkout and the interpreter: `chmod -R go+rX .venv grader`, because the runner gives up root"
)
INSTALL_LIBSECCOMP = (
    "install libseccomp: `apt-get install libseccomp2` (Debian, Ubuntu), `dnf install libseccomp` (Fedora), "
    "`pacman -S libseccomp` (Arch)"
)
NEED_LANDLOCK = "run Linux 5.14 or newer, booted with `landlock` among its security modules (`lsm=`)"
NEED_SECCOMP = "run a kernel built with CONFIG_SECCOMP_FILTER"
MORE_MEMORY = (
    "give the machine or its container more memory: at least 1 GiB, and in addition MESHGRADE_PACKAGE_MEMORY_MB for "
    "each grading slot"
)
UNKNOWN = "no remedy is known for this; report what `./meshgrade doctor` prints"
# This stands between a fault and its remedy in a message.
TO_FIX_IT = "\nTo fix it: "
