"""The outermost walls: namespaces, a read-only root that contains only Python, no network, no /proc."""

import os
import shutil
import sys
from pathlib import Path

from grader.core.chips import compiler_of
from grader.core.errors import WallMissing
from grader.sandbox.remedies import INSTALL_BWRAP

_GRADER = Path(__file__).resolve().parents[1]
# Our code that runs inside. A submission can read it, so it must contain no secret.
INSIDE = (
    *("core/__init__.py", "core/chips.py", "core/item_sizes.py", "core/wire.py", "core/xla_options.py", "program"),
    *("confined", "forks", "runner", "verifier"),
)
# The settings of the virtual environment inside. Without the folder of its interpreter, Python follows the link.
_SETTINGS = Path(__file__).with_name("pyvenv.cfg")
_HOME = Path("/opt/meshgrade")
_VENV = _HOME / "venv"
_LIBRARY_FOLDERS = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
# The name and version of the host's distribution, and the empty file that covers it.
_RELEASE, _NO_RELEASE = "/usr/lib/os-release", Path(__file__).with_name("os-release")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# The user of every process in a sandbox if the service is not root, in a user namespace.
SOLE_UID = 61_000


def bubblewrap_command() -> list[str]:
    """The command line up to the program to run inside. Start it with an empty environment.

    Raises:
      WallMissing: bubblewrap is not installed.
    """
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise WallMissing("namespaces", "bubblewrap (`bwrap`) is not installed", INSTALL_BWRAP)
    binds = [*_library_binds(), *_python_binds(), *_runner_binds()]
    # No /proc at all: a submission needs nothing in it, and root without a user namespace could write files there, such
    # as core_pattern, however it is mounted.
    binds += [(path, path) for path in _machine_files()]
    command = [bwrap, *_NAMESPACES, *_identity(), "--clearenv"]
    for name, value in runner_environment().items():
        command += ["--setenv", name, value]
    program = zygote_command()[0]
    for folder in _parents([*(inside for _, inside in binds), program]):
        # If bwrap creates them itself, they have mode 0700, and a runner that has given up root cannot enter.
        command += ["--perms", "0755", "--dir", folder]
    for outside, inside in binds:
        command += ["--ro-bind", outside, inside]
    if os.path.isfile(_RELEASE):
        # This file is in a folder of libraries, so cover it.
        command += ["--ro-bind", str(_NO_RELEASE), _RELEASE]
    command += ["--symlink", str(_links_to_interpreter()[0]), program]
    if compiler_of("gpu"):
        # XLA's plugin for CUDA asks where its program is, and ends if there is no answer. If that were a Python, it
        # would ask for the command line, too.
        command += ["--perms", "0755", "--dir", "/proc", "--perms", "0755", "--dir", "/proc/self"]
        command += ["--symlink", str(_HOME), "/proc/self/exe"]
    command += [*_library_links(), "--dev", "/dev", "--remount-ro", "/dev"]
    return [*command, "--perms", "0755", "--dir", "/tmp", "--remount-ro", "/", "--chdir", "/"]


def zygote_command() -> list[str]:
    """The command that starts the zygote inside the walls."""
    return [str(_VENV / "bin" / Path(sys.executable).name), "-I", "-B", str(_HOME / "grader" / "forks" / "zygote.py")]


def readable_paths() -> tuple[str, ...]:
    """The paths that Landlock lets a submission read: interpreter, packages, libraries, our runner and cpuinfo."""
    python = [inside for _, inside in _python_binds()]
    return (*_LIBRARY_FOLDERS, "/etc/ld.so.cache", *python, str(_HOME), *_machine_files(), *_DEVICES)


def writable_paths() -> tuple[str, ...]:
    """The files that a submission can write, besides its scratch folder."""
    return ("/dev/null", "/dev/full")


def runner_environment() -> dict[str, str]:
    """All environment variables of a runner, the same for a reference and a submission."""
    flags = (
        "--xla_cpu_collective_call_warn_stuck_timeout_seconds=3",
        # This is the last resort: usually, the session first notices that devices wait for one another forever.
        "--xla_cpu_collective_call_terminate_timeout_seconds=40",
    )
    return {
        "HOME": "/tmp",
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
        "PATH": "/nonexistent",
        "JAX_PLATFORMS": "cpu",
        "JAX_ENABLE_X64": "0",
        # The size of XLA's thread pool. With fewer threads than devices, loops that do not block deadlock.
        "NPROC": "32",
        # BLAS would start its threads when numpy is imported, and nothing with threads can be forked.
        "OPENBLAS_NUM_THREADS": "1",
        "XLA_FLAGS": " ".join(flags),
        "TF_CPP_MIN_LOG_LEVEL": "2",
    }


_NAMESPACES = (
    *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--new-session", "--die-with-parent", "--hostname", "sandbox", "--cap-drop", "ALL"),
)


def _identity() -> list[str]:
    """The zygote's user and rights: it mounts a fork's scratch and, as root, changes the fork's user.

    Root that is mapped into a user namespace is still root to the kernel: it could write wherever only the owner is
    checked, as in /proc/sys. So if the service runs as root, each fork gives up root for good before it loads anything
    submitted; otherwise it gets a user namespace.
    """
    if os.geteuid() == 0:
        return ["--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    user = str(SOLE_UID)
    return ["--unshare-user", "--uid", user, "--gid", user, "--cap-add", "CAP_SYS_ADMIN"]


def _machine_files() -> tuple[str, ...]:
    """Files about the machine: XLA reads cpuinfo to choose code, and libtpu needs the number of cores to start."""
    return ("/proc/cpuinfo", *(("/sys/devices/system/cpu/possible",) if compiler_of("tpu") else ()))


def _runner_binds() -> list[tuple[str, str]]:
    """Bind our source files one by one, because the compiled files beside them name the checkout's folder."""
    files = [_GRADER / "__init__.py"]
    for name in INSIDE:
        path = _GRADER / name
        files += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return [(str(file), str(_HOME / "grader" / file.relative_to(_GRADER))) for file in files]


def _python_binds() -> list[tuple[str, str]]:
    """Bind the packages to a path that reveals nothing about the host, and the interpreter to where they expect it."""
    # Bind neither its `bin` nor its settings, which can both name the folder of the checkout.
    binds = [(str(Path(sys.prefix, "lib")), str(_VENV / "lib")), (str(_SETTINGS), str(_VENV / "pyvenv.cfg"))]
    if sys.base_prefix == "/usr":
        # The system's Python: its library is already bound, so bind only its executable.
        return [*binds, *((str(path.resolve()), str(path)) for path in _links_to_interpreter())]
    return [*binds, (sys.base_prefix, sys.base_prefix)]


def _links_to_interpreter() -> list[Path]:
    """Every path through which the virtual environment's `python` is reached: /usr/bin/python3, python3.11.

    If it is a copy, no link leads to the interpreter, so take the one that belongs to its library.
    """
    path, found = Path(sys.executable), []
    while path.is_symlink():
        path = path.parent / path.readlink()
        if not path.is_relative_to(sys.prefix):
            found.append(path)
    return found or [Path(sys.base_prefix, "bin", "python{}.{}".format(*sys.version_info))]


def _library_binds() -> list[tuple[str, str]]:
    folders = [folder for folder in _LIBRARY_FOLDERS if os.path.isdir(folder) and not os.path.islink(folder)]
    files = [name for name in ("/etc/ld.so.cache",) if os.path.exists(name)]
    return [(name, name) for name in folders + files]


def _library_links() -> list[str]:
    links: list[str] = []
    for folder in _LIBRARY_FOLDERS:
        if os.path.islink(folder):
            links += ["--symlink", os.readlink(folder), folder]
    return links


def _parents(paths: list[str]) -> list[str]:
    """Every folder above the paths, from the root down, without the root."""
    above = {str(parent) for path in paths for parent in Path(path).parents}
    return sorted(above - {"/"} - set(paths))
