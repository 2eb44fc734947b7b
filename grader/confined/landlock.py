"""Landlock: limit the files that a process can use, regardless of its user and their permissions.

Source: https://docs.kernel.org/userspace-api/landlock.html
"""

import ctypes
import os
import struct

from grader.confined import kernel

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = (1 << bit for bit in range(6))
_MAKE_CHAR, _MAKE_DIR, _MAKE_REG, _MAKE_SOCK, _MAKE_FIFO, _MAKE_BLOCK, _MAKE_SYM = (1 << bit for bit in range(6, 13))
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15

_READ = _READ_FILE | _READ_DIR
# Scratch may have files and folders, but no links, pipes, sockets or devices. Nothing there can be executed.
_SCRATCH = _READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _TRUNCATE
_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_FLAG_VERSION = 1
_RULE_PATH_BENEATH = 1
_NET = 0b11  # TCP bind and connect
_SCOPE = 0b11  # abstract Unix sockets and signals stay inside


def abi() -> int:
    """The kernel's version of Landlock; 0 if it has none."""
    try:
        return kernel.syscall(kernel.LANDLOCK_CREATE_RULESET, None, 0, _FLAG_VERSION)
    except OSError:
        return 0


def restrict(readable: list[str], writable: list[str], scratch: str | None) -> None:
    """Let this process only read below `readable`, write the files `writable`, and work in `scratch`.

    Paths that do not exist are skipped. So are rights that an old kernel does not know; seccomp forbids the same
    operations again.

    Raises:
      OSError: the kernel has no Landlock, or refuses.
    """
    version = abi()
    if version < 1:
        raise OSError("the kernel does not offer Landlock")
    handled = (1 << 13) - 1
    handled |= (
        (_REFER if version >= 2 else 0) | (_TRUNCATE if version >= 3 else 0) | (_IOCTL_DEV if version >= 5 else 0)
    )
    attributes = struct.pack("QQQ", handled, _NET if version >= 4 else 0, _SCOPE if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = kernel.syscall(kernel.LANDLOCK_CREATE_RULESET, attributes, size, 0)
    try:
        for path in readable:
            _allow(ruleset, path, _READ & handled)
        for path in writable:
            _allow(ruleset, path, (_READ_FILE | _WRITE_FILE) & handled)
        if scratch is not None:
            _allow(ruleset, scratch, _SCRATCH & handled)
        kernel.syscall(kernel.LANDLOCK_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not os.path.isdir(path):
            rights &= _ON_FILES
        # The structure is packed, as in the kernel: 8 bytes of rights, 4 of descriptor.
        kernel.syscall(
            kernel.LANDLOCK_ADD_RULE,
            ruleset,
            _RULE_PATH_BENEATH,
            ctypes.c_char_p(struct.pack("=Qi", rights, opened)),
            0,
        )
    finally:
        os.close(opened)
