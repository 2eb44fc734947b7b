"""Runners behind bubblewrap: namespaces, a read-only root with nothing in it but Python, no network, no capability."""

import itertools
import os
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

from grader.errors import WallMissing
from grader.runner.confine import Confinement
from grader.sandbox.protocol import RunnerSpec
from grader.sandbox.remedies import INSTALL_BWRAP
from grader.sandbox.session import START_LIMIT_S, ProcessSession

WALLS = ("namespaces", "rlimits", "memory")
_RUNNER = Path(__file__).resolve().parents[1] / "runner"
_INSIDE = Path("/opt/meshgrade/grader")
_SCRATCH_BYTES = 64 << 20
# JAX with 8 devices has about 80 threads whose stacks count as data, 0.9 GiB in all, though hardly any is touched.
_DATA_SLACK_BYTES = 2 << 30
# A user of its own for each sandbox that is up, so that none can signal another and each has its own share of tasks.
_FIRST_UID, _UIDS = 61_000, 1_000
_uids = itertools.cycle(range(_FIRST_UID, _FIRST_UID + _UIDS))


class BubblewrapSandbox:
    """Starts a fresh Python for each session. Threads may open sessions side by side."""

    walls: tuple[str, ...] = WALLS

    def open(self, spec: RunnerSpec, stop: threading.Event | None = None) -> ProcessSession:
        """See `Sandbox.open`."""
        session = start(spec, "__main__.py", stop=stop)
        try:
            session.wait_until_ready()
        except BaseException:
            session.__exit__()
            raise
        return session


def start(spec: RunnerSpec, program: str, *arguments: str, stop: threading.Event | None = None) -> ProcessSession:
    """Start a program of the runner's room behind the walls, with its `Confinement` as first argument.

    Raises:
      WallMissing: bubblewrap is not there.
    """
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            confinement = _confinement(spec, theirs.fileno())
            python = [sys.executable, "-I", "-B", str(_INSIDE / "runner" / program), confinement.to_json(), *arguments]
            process = subprocess.Popen(
                [*sandbox_command(spec.devices), *python],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                env={},
            )
    except BaseException:
        ours.close()
        raise
    return ProcessSession(process, ours, spec.limits, stop)


def sandbox_command(devices: int) -> list[str]:
    """The bwrap command line up to the program to run.

    Raises:
      WallMissing: bubblewrap is not installed.
    """
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise WallMissing("namespaces", "bubblewrap (`bwrap`) is not installed", INSTALL_BWRAP)
    # No /proc at all. As root without a user namespace the files in it would be ours to write whatever the mount
    # says, core_pattern among them; and nothing in it is a submission's business. XLA reads cpuinfo to choose code.
    binds = [*_library_binds(), *_python_binds(), ("/proc/cpuinfo", "/proc/cpuinfo")]
    binds += [
        (str(_RUNNER.parent / "__init__.py"), str(_INSIDE / "__init__.py")),
        (str(_RUNNER), str(_INSIDE / "runner")),
    ]
    command = [bwrap, *_NAMESPACES, *_identity(), "--clearenv"]
    for name, value in _environment(devices).items():
        command += ["--setenv", name, value]
    for folder in _parents([inside for _, inside in binds]):
        # Without this bwrap makes them 0700, and a runner that has given up root can not pass.
        command += ["--perms", "0755", "--dir", folder]
    for outside, inside in binds:
        command += ["--ro-bind", outside, inside]
    command += [
        *_library_links(),
        *("--dev", "/dev", "--remount-ro", "/dev"),
        *("--perms", "1777", "--size", str(_SCRATCH_BYTES), "--tmpfs", "/tmp"),
        *("--remount-ro", "/", "--chdir", "/tmp"),
    ]
    return command


_NAMESPACES = (
    *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--new-session", "--die-with-parent", "--hostname", "sandbox", "--cap-drop", "ALL"),
)


def _identity() -> list[str]:
    """Who the runner is. Root keeps just what it needs to become nobody, which the runner does first of all.

    Root mapped into a user namespace would still be root to the kernel: it could write wherever only the owner is
    asked for, /proc/sys among it. So with root to give up, it is given up for good; without, a user namespace.
    """
    if os.geteuid() == 0:
        return ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    return ["--unshare-user", "--uid", str(_FIRST_UID), "--gid", str(_FIRST_UID)]


def _environment(devices: int) -> dict[str, str]:
    """The whole environment of a runner, the same for a reference and for a submission."""
    flags = (
        f"--xla_force_host_platform_device_count={devices}",
        "--xla_cpu_collective_call_warn_stuck_timeout_seconds=3",
        "--xla_cpu_collective_call_terminate_timeout_seconds=6",
    )
    return {
        "HOME": "/tmp",
        "LANG": "C.UTF-8",
        "PATH": "/nonexistent",
        "JAX_PLATFORMS": "cpu",
        "JAX_ENABLE_X64": "0",
        # XLA sizes its thread pool by this one. With fewer threads than devices un-blocked loops deadlock.
        "NPROC": "32",
        "XLA_FLAGS": " ".join(flags),
        "TF_CPP_MIN_LOG_LEVEL": "2",
    }


def _confinement(spec: RunnerSpec, fd: int) -> Confinement:
    limits = spec.limits
    return Confinement(
        fd=fd,
        uid=next(_uids) if os.geteuid() == 0 else None,
        data_bytes=(limits.memory_mb << 20) + _DATA_SLACK_BYTES,
        file_bytes=_SCRATCH_BYTES,
        cpu_s=int(START_LIMIT_S + 2 * limits.time_s),
        tasks=512,
        open_files=256,
        max_payload_bytes=limits.output_mb << 20,
    )


def _python_binds() -> list[tuple[str, str]]:
    """The interpreter and its packages, at their own paths: a virtual environment names them by path."""
    folders = {sys.prefix, sys.base_prefix} - {"/usr"}
    binds = [(folder, folder) for folder in sorted(folders)]
    if sys.base_prefix == "/usr":
        interpreter = str(Path(sys.executable).resolve())
        binds.append((interpreter, interpreter))
    return binds


_LIBRARY_FOLDERS = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")


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
