"""How to fix a missing wall, as commands if possible."""

INSTALL_BWRAP = (
    "install bubblewrap: `apt-get install bubblewrap` (Debian, Ubuntu), `dnf install bubblewrap` (Fedora), "
    "`pacman -S bubblewrap` (Arch)"
)
_ALLOW_USER_NAMESPACES = (
    "allow user namespaces: `sysctl -w kernel.unprivileged_userns_clone=1` (Debian), "
    "`sysctl -w kernel.apparmor_restrict_unprivileged_userns=0` (Ubuntu 24.04 and newer), "
    "`sysctl -w user.max_user_namespaces=10000` where it is 0; in a container, run it with a seccomp profile that "
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
UNKNOWN = "run `./meshgrade doctor` and report what it prints"


def remedy_for(output: str) -> str:
    """The remedy for the name of a wall, or for the last output of bubblewrap or of the runner in it."""
    text = output.lower()
    if "permission denied" in text or "permissionerror" in text or "modulenotfounderror" in text:
        return READABLE_PYTHON
    for wall, remedy in (("landlock", NEED_LANDLOCK), ("seccomp", NEED_SECCOMP)):
        if text.startswith(wall):
            return remedy
    if text.startswith("namespaces") or (
        "bwrap:" in text and any(word in text for word in ("namespace", "uid map", "not permitted"))
    ):
        return _ALLOW_USER_NAMESPACES
    return UNKNOWN
