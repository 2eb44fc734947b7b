"""The few kernel calls that Python has no function for. Each raises OSError if it fails."""

import ctypes
import os

_libc = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNS, CLONE_NEWUSER = 0x00020000, 0x10000000
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 2, 4, 8
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 1, 4, 22, 38, 47
_PR_CAPBSET_DROP = 24
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION_3 = 0x20080522
_CAPSET = {"x86_64": 126, "aarch64": 91}
# These numbers are equal on every architecture, because all new calls have common ones.
LANDLOCK_CREATE_RULESET, LANDLOCK_ADD_RULE, LANDLOCK_RESTRICT_SELF = 444, 445, 446


def syscall(number: int, *arguments: object) -> int:
    """Make a system call by number. Pass pointers as ctypes objects; everything else is passed as a long."""
    passed = [argument if not isinstance(argument, int) else ctypes.c_long(argument) for argument in arguments]
    return _checked("syscall", _libc.syscall(ctypes.c_long(number), *passed))


def prctl(option: int, *arguments: object) -> None:
    passed = [argument if not isinstance(argument, int) else ctypes.c_ulong(argument) for argument in arguments]
    passed += [ctypes.c_ulong(0)] * (4 - len(passed))
    _checked("prctl", _libc.prctl(ctypes.c_int(option), *passed))


def unshare(flags: int) -> None:
    _checked("unshare", _libc.unshare(ctypes.c_int(flags)))


def mount_tmpfs(path: str, size_bytes: int, files: int) -> None:
    """Mount an empty file system with room for `size_bytes` and `files`, visible in this mount namespace."""
    options = f"size={size_bytes},nr_inodes={files},mode=1777".encode()
    flags = ctypes.c_ulong(_MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    _checked("mount", _libc.mount(b"tmpfs", path.encode(), b"tmpfs", flags, options))


def die_with_parent(signal_number: int) -> None:
    """Send this process a signal when its parent ends. Changing the user clears this, so set it afterwards."""
    prctl(_PR_SET_PDEATHSIG, signal_number)


def forbid_tracing() -> None:
    """Keep other processes of the same user from attaching to this one or reading its memory."""
    prctl(_PR_SET_DUMPABLE, 0)


def forbid_new_privileges() -> None:
    prctl(_PR_SET_NO_NEW_PRIVS, 1)


def drop_capabilities() -> None:
    """Give up every capability in every set, for good."""
    prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    for capability in range(64):
        try:
            prctl(_PR_CAPBSET_DROP, capability)
        except OSError:
            # Past the last capability, or without the right to drop one. Either way, the sets below end up empty.
            break
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    syscall(_CAPSET[os.uname().machine], header, (ctypes.c_uint32 * 6)())


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def install_filter(program: bytes) -> None:
    """Install a BPF program of 8-byte instructions as the filter of this thread and of all threads it starts."""
    prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(_Program(len(program) // 8, program)))


def _checked(what: str, result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result
