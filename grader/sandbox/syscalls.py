"""The system calls that Python and XLA need, and no others: an allow-list, compiled to BPF with libseccomp.

It is an allow-list because kernels get new calls every year, and a deny-list would permit each of them from the day
that it appears. It is compiled outside the walls, because libseccomp runs ldconfig to find its library, and no program
can be run inside.
"""

import errno
import resource
import tempfile

from grader.confined.confine import OWN_PID
from grader.confined.futexes import can_be_made_private
from grader.core.errors import WallMissing
from grader.sandbox.remedies import INSTALL_LIBSECCOMP

_ALLOWED = """
read write readv writev pread64 pwrite64 preadv pwritev lseek close dup dup2 dup3 pipe pipe2
open openat creat stat fstat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat getcwd chdir fchdir
getdents getdents64 mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 truncate ftruncate
fallocate chmod fchmod fchmodat umask copy_file_range
munmap mremap mprotect brk msync
set_robust_list rseq set_tid_address gettid sched_yield getcpu restart_syscall exit exit_group
rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending sigaltstack
nanosleep gettimeofday time times getrusage
poll ppoll select pselect6
getpid getppid getpgrp getuid geteuid getgid getegid getresuid getresgid getgroups getrlimit
uname getrandom arch_prctl
""".split()
# libtpu waits for its threads with these, reads whether a timer of its own is set, and on which file system a file is.
# Its process runs no submitted Python, which could learn the size and use of the host's disk from the latter.
_ALLOWED_TPU = "statfs fstatfs epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd2 getitimer".split()
# A thread must share these with its process: thread group, memory, folders, descriptors and signal handlers. With
# descriptors of its own, each thread could fill as many pipes as a process may have.
_CLONE_THREAD = 0x00010000 | 0x00000100 | 0x00000200 | 0x00000400 | 0x00000800
_CLONE_NAMESPACES = 0x7E020080
_CLOSE_RANGE_UNSHARE = 2
_SIGABRT = 6
_TCGETS, _TIOCGWINSZ, _FIOCLEX, _FIONCLEX = 0x5401, 0x5413, 0x5451, 0x5450
_PR_SET_NAME, _PR_GET_NAME, _PR_SET_VMA = 15, 16, 0x53564D41
# No F_SETOWN or F_SETSIG, which make the kernel send signals to other processes for the caller, and no locks:
# two submissions could exchange messages through locks on a file that both can read. (For the same reason there is no
# flock, and no utimensat, which could mark the host's device nodes.)
_F_DUPFD, _F_GETFD, _F_SETFD, _F_GETFL, _F_SETFL, _F_DUPFD_CLOEXEC = (*range(5), 1030)
# Only private mappings are allowed. Submissions could communicate through a shared mapping of a file that they all can
# read, even if none can write it. This filter cannot distinguish scratch from other folders, so scratch has no shared
# mappings.
_MAP_TYPE, _MAP_PRIVATE = 0x0F, 0x02
# Advice on the caller's own memory. Other advice reads files ahead, drops or compacts pages of the shared page cache,
# or offers the caller's pages for merging with those of other processes.
_ADVICE = {
    "NORMAL": 0, "RANDOM": 1, "SEQUENTIAL": 2, "DONTNEED": 4, "FREE": 8, "DONTFORK": 10, "DOFORK": 11, "HUGEPAGE": 14,
    "NOHUGEPAGE": 15, "DONTDUMP": 16, "DODUMP": 17, "WIPEONFORK": 18, "KEEPONFORK": 19, "GUARD_INSTALL": 102,
    "GUARD_REMOVE": 103,
}  # fmt: skip
# Futexes must be those of a single process. Without this flag, the kernel identifies a futex by the page of the file
# that contains it, even in a private mapping of a library, and wakes every process that maps the same page.
_FUTEX_PRIVATE, _FUTEX_COMMAND = 128, 0x7F
_FUTEX_WAIT, _FUTEX_WAKE, _FUTEX_WAIT_BITSET, _FUTEX_SWAP = 0, 1, 9, 60
# These are wait, wake, requeue, compare and requeue, wake and operate, and both wait and wake with a bit set. Those
# with priority inheritance are missing, because they look for the thread of any process that a number names.
_FUTEX_COMMANDS = (_FUTEX_WAIT, _FUTEX_WAKE, 3, 4, 5, _FUTEX_WAIT_BITSET, 10)
# Clocks of the machine, of the calling process and of its thread. A higher number names a descriptor, and a negative
# one the CPU time of any process or thread.
_CLOCKS = 12


def compile_filter(*, for_tpu: bool = False) -> bytes:
    """Return the filter as a BPF program, 8 bytes per instruction. `OWN_PID` in it means the process that installs it.

    Args:
      for_tpu: for a process that compiles for TPUs.
    Raises:
      WallMissing: libseccomp is not installed.
    """
    try:
        import pyseccomp as seccomp
    except (ImportError, RuntimeError, OSError) as error:
        raise WallMissing("seccomp", f"libseccomp cannot be loaded ({error})", INSTALL_LIBSECCOMP) from error
    rules = seccomp.SyscallFilter(seccomp.ERRNO(errno.EPERM))
    # Calls by another architecture's numbers, such as 32-bit ones on x86-64, would not be recognized by name.
    rules.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.KILL_PROCESS)

    def allow(name: str, *arguments: object) -> None:
        try:
            rules.add_rule(seccomp.ALLOW, name, *arguments)
        except ValueError:
            # This architecture lacks the call: newer ones have no `open`, only `openat`.
            return

    def argument_is(position: int, value: int) -> object:
        return seccomp.Arg(position, seccomp.EQ, value)

    def shared_futex(command: int) -> object:
        return seccomp.Arg(1, seccomp.MASKED_EQ, _FUTEX_COMMAND | _FUTEX_PRIVATE, command)

    for name in (*_ALLOWED, *(_ALLOWED_TPU if for_tpu else ())):
        allow(name)
    # Allow only threads that share everything, so no process and no new namespace.
    threads_only = seccomp.Arg(0, seccomp.MASKED_EQ, _CLONE_THREAD | _CLONE_NAMESPACES, _CLONE_THREAD)
    allow("clone", threads_only)
    # Answer ENOSYS, not EPERM: glibc then falls back to clone, whose flags can be looked at; on EPERM it gives up and
    # XLA gets no threads. https://github.com/moby/moby/issues/42680
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    # This is abort() in the caller's own process. Any other signal, to itself or to others, could only hide who ended
    # it.
    allow("tgkill", argument_is(0, OWN_PID), argument_is(2, _SIGABRT))
    # Allow reading all limits, and setting those on memory, as the runner does. With its own limit on CPU time, a
    # process would end by a signal that looks like another process's.
    allow("prlimit64", argument_is(0, 0), argument_is(2, 0))
    for limit in (resource.RLIMIT_DATA, resource.RLIMIT_AS):
        allow("prlimit64", argument_is(0, 0), argument_is(1, limit))
    allow("close_range", seccomp.Arg(2, seccomp.MASKED_EQ, _CLOSE_RANGE_UNSHARE, 0))
    allow("mmap", seccomp.Arg(3, seccomp.MASKED_EQ, _MAP_TYPE, _MAP_PRIVATE))
    for advice in _ADVICE.values():
        allow("madvise", argument_is(2, advice))
    for command in _FUTEX_COMMANDS:
        private = command | _FUTEX_PRIVATE
        allow("futex", seccomp.Arg(1, seccomp.MASKED_EQ, _FUTEX_COMMAND | _FUTEX_PRIVATE, private))
    # A handler in the process makes the futexes of libstdc++ private: see grader/confined/futexes.py.
    instead = seccomp.TRAP if can_be_made_private() else seccomp.ERRNO(errno.EAGAIN)
    for command in (_FUTEX_WAIT, _FUTEX_WAKE):
        rules.add_rule(instead, "futex", shared_futex(command))
    # pthread_join waits for a thread's end like this, and the kernel does not wake a private futex then. EAGAIN says
    # that the value has changed, so pthread_join reads it again until the thread, which is about to end, is gone.
    rules.add_rule(seccomp.ERRNO(errno.EAGAIN), "futex", shared_futex(_FUTEX_WAIT_BITSET))
    if for_tpu:
        # libtpu tries a command that only some kernels have. EPERM would make it wait forever.
        swap = seccomp.Arg(1, seccomp.MASKED_EQ, _FUTEX_COMMAND, _FUTEX_SWAP)
        rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "futex", swap)
    for name in ("clock_gettime", "clock_getres", "clock_nanosleep"):
        allow(name, seccomp.Arg(0, seccomp.LT, _CLOCKS))
    # Scratch is in memory, so there is nothing to do; for a file of the host, the call would wait for the host's
    # writes.
    for name in ("fsync", "fdatasync"):
        rules.add_rule(seccomp.ERRNO(0), name)
    for pid in (0, OWN_PID):
        allow("sched_getaffinity", argument_is(0, pid))
    # XLA's locks read the priority of their own thread. The result is always 0, the default: the true priority of an
    # arbitrary number would reveal which processes exist.
    for name in ("sched_getparam", "sched_getscheduler"):
        rules.add_rule(seccomp.ERRNO(0), name)
    for request in (_TCGETS, _TIOCGWINSZ, _FIOCLEX, _FIONCLEX):
        allow("ioctl", argument_is(1, request))
    for option in (_PR_SET_NAME, _PR_GET_NAME, _PR_SET_VMA):
        allow("prctl", argument_is(0, option))
    for command in (_F_DUPFD, _F_GETFD, _F_SETFD, _F_GETFL, _F_SETFL, _F_DUPFD_CLOEXEC):
        allow("fcntl", argument_is(1, command))
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()
