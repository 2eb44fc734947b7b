"""Where attacks run: a judge behind real walls, canaries around it, and an inspection afterwards."""

import base64
import json
import os
import secrets
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from grader.core.context import QUIET, Context
from grader.judging.judge import Judge
from grader.package.package import Package
from grader.review.reader import read_package
from grader.sandbox.build import PooledSandbox, build_sandbox
from grader.sandbox.usage import descendants
from grader.sandbox.walls import wall_names
from grader.verdicts.verdict import Verdict
from tests.hostile.attack import Attack

PACKAGE = Path(__file__).resolve().parents[1] / "grader" / "packages" / "add_one"
HONEST = (Path(__file__).parent / "clean_room.py").read_text()
WRONG = "def add_one(x):\n    return x + 2\n"
SECRET = b"canary-of-the-deployment-secret!"
_ENVIRONMENT = "MESHGRADE_OWNER_TOKEN"
# The users that forks become. A submission left a file if one of these users owns it outside scratch.
_FORK_UIDS = range(61_000, 65_000)
# The user of a service without root, and of all its forks. It is the last one above, so its files count as left.
PLAIN_UID = 64_999
_PLANTED = frozenset(
    "left-behind planted planted.pth sitecustomize.py from-left from-right jit_add-planted-cache".split()
)
_SETTLE_S = 60.0
# Processes end a little after their grading, and take descriptors and threads with them. Files stay.
_COUNTS = ("processes", "descriptors", "threads")
_FILES = ("host", "left")
# How many looks must be alike before the first attack.
_ALIKE = 10
# Where a submission could leave a file. All arenas of this machine share these folders.
_FOLDERS = (
    *map(Path, ("/", "/tmp", "/var/tmp", "/dev/shm")),
    Path(np.__path__[0]),
    Path(np.__path__[0]).parent,
    PACKAGE,
)
# Channel, two outputs, the process's handle, and the selector that watches them.
_DESCRIPTORS_PER_FORK = 5


def _with_less_memory(package: Package) -> Package:
    """Lower the memory limit, because page faults can be so slow that filling a gigabyte exceeds the time limit."""
    limits = package.manifest.limits.model_copy(update={"memory_mb": 768})
    return replace(package, manifest=package.manifest.model_copy(update={"limits": limits}))


class Arena:
    """A judge whose sandbox lacks the walls `without`, and the targets of an attack.

    Use it as a context manager: `grade` from any thread; `left_behind` while nothing is graded.

    Args:
      host: a folder outside the sandbox, for a file that every user can read.
    """

    def __init__(self, scratch: Path, without: frozenset[str] = frozenset(), host: Path = Path("/var/tmp")) -> None:
        self.package = _with_less_memory(read_package(PACKAGE))
        self._scratch = scratch
        self._cache = scratch / "cache"
        self._canary = f"canary-{secrets.token_hex(8)}"
        self._sandbox: PooledSandbox = build_sandbox(scratch / "programs", without=without)
        self._judge = Judge(self._sandbox, SECRET, self._cache)
        self._host = Path(tempfile.mkdtemp(prefix="meshgrade-host-", dir=host))
        self._listeners = list(_listeners(f"meshgrade-{self._canary}"))
        self._before: _State = {}
        self._left_before = frozenset(_left_on_the_host())

    def __enter__(self) -> "Arena":
        try:
            self._open()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _open(self) -> None:
        self._host.chmod(0o755)
        canary = self._host / "canary"
        canary.write_text(self._canary)
        canary.chmod(0o644)
        self._judge.prepare(self.package)
        # Hidden inputs are as secret as the key from which they are drawn.
        prepared = self._judge._references.prepare(self.package, QUIET)
        hidden = [case.inputs["x"] for case in prepared.cases if not case.public]
        self._hidden = [float(value) for x in hidden for value in np.asarray(x)]
        self.grade(HONEST)
        self._before = self._settled_state()

    def __exit__(self, *error: object) -> None:
        self._sandbox.close()
        for listener in self._listeners:
            listener.close()
        shutil.rmtree(self._host)

    @contextmanager
    def secret_environment(self) -> Iterator[None]:
        """Grade an attack while the grader's own environment contains a canary."""
        os.environ[_ENVIRONMENT] = self._canary
        try:
            yield
        finally:
            del os.environ[_ENVIRONMENT]

    def grade(self, source: str) -> Verdict:
        return self._judge.judge(self.package, source)

    def attack(self, attack: Attack) -> Verdict:
        with self.secret_environment():
            return self.grade(self._aimed(attack.source()))

    def attack_both(self, first: Attack, second: Attack) -> tuple[Verdict, Verdict]:
        """Grade two attacks at the same time. Each waits until the other's import has begun."""
        verdicts: dict[str, Verdict] = {}
        together = threading.Barrier(2, timeout=120)

        def run(attack: Attack) -> None:
            def progress(phase: str) -> None:
                if phase == "importing":
                    together.wait()

            verdicts[attack.name] = self._judge.judge(self.package, self._aimed(attack.source()), Context(progress))

        threads = [threading.Thread(target=run, args=(each,)) for each in (first, second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return verdicts[first.name], verdicts[second.name]

    def assert_tells_no_secret(self, verdict: Verdict) -> None:
        """Assert that no part of a verdict contains a canary, the deployment's secret or a hidden input."""
        text = json.dumps(verdict.model_dump(mode="json"), ensure_ascii=False)
        text.encode()
        secrets_ = [self._canary, SECRET.decode(), SECRET.hex(), base64.b64encode(SECRET).decode(), "root:x:0:0"]
        for value in self._hidden:
            # Five digits: fewer can occur by accident, and the corpus exports them with six decimals.
            secrets_ += [f"{abs(value):.5f}"[:6], str(int(abs(value) * 1e6))]
        for secret in secrets_:
            assert secret not in text, f"the verdict tells a secret: {secret}"

    def left_behind(self) -> str | None:
        """Describe what is left if there are more processes, descriptors, mounts or files than before, or a connection.

        Files are removed, and what else is left is then expected, so later attacks are not blamed for it.
        """
        before, now = self._before, self._settled_state()
        if _exceeds(now, before):
            for path in map(Path, set(_left_on_the_host()) - self._left_before):
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            cleaned = self._state()
            self._before = before | {name: cleaned[name] for name in _FILES}
            # Processes that were still ending when the files were found are not expected later.
            self._before = self._settled_state()
            return f"something was left behind.\nbefore:\n{_lines(before)}\nafter:\n{_lines(now)}"
        # Fewer processes than before: one of them was still ending then.
        self._before = now
        for listener in self._listeners:
            try:
                listener.accept()
            except BlockingIOError:
                continue
            return "a submission has connected to the host"
        return None

    def _aimed(self, source: str) -> str:
        port = self._listeners[0].getsockname()[1]
        targets = {
            "canary_file": str(self._host / "canary"),
            "folder": str(PACKAGE),
            "cache": str(self._cache),
            "port": str(port),
            "abstract": f"meshgrade-{self._canary}",
        }
        for name, target in targets.items():
            source = source.replace(f"@{name}@", target)
        return source

    def _settled_state(self) -> "_State":
        """Return the state once the pool is full and ending processes have ended, or the current state after a limit.

        It does not wait for a file that was left.
        """
        deadline = time.monotonic() + _SETTLE_S
        state, was_full, alike = self._state(), False, 0
        while time.monotonic() < deadline:
            time.sleep(0.05)
            # Ask before each look: a fork that is being made is not among those that wait, and would count as left.
            pool = self._sandbox.stats()
            is_full = pool.alive and pool.full
            again = self._state()
            alike = alike + 1 if again == state and was_full and is_full else 0
            if alike and self._is_final(again, alike):
                return again
            state, was_full = again, is_full
        return state

    def _is_final(self, state: "_State", alike: int) -> bool:
        before = self._before
        if not before:
            return alike >= _ALIKE
        return not _exceeds(state, before) or any(state[name] != before[name] for name in _FILES)

    def _state(self) -> "_State":
        """Everything that a submission could leave behind, without the pool's waiting forks."""
        waiting = self._sandbox.stats().pids
        return {
            "processes": len(set(descendants(os.getpid())) - set(waiting)),
            "descriptors": len(os.listdir("/proc/self/fd")) - _DESCRIPTORS_PER_FORK * len(waiting),
            "threads": threading.active_count(),
            "mounts": Path("/proc/self/mountinfo").read_text(),
            "answers": sorted(map(str, self._cache.rglob("*"))),
            "host": sorted(os.listdir(self._host)),
            "left": sorted(_left_on_the_host()),
        }


def assert_held(arena: Arena, attack: Attack, verdict: Verdict) -> None:
    """Assert that an attack got the verdict that it expects, and got nowhere."""
    told = verdict.model_dump_json(indent=1)
    assert attack.expects(verdict.status, verdict.reason), told
    assert "CROSSED" not in verdict.stdout + verdict.stderr, told
    for text in attack.says:
        assert text in _said(verdict), told
    assert verdict.walls == wall_names(), told
    assert verdict.score == (100 if verdict.status == "accepted" else 0), told
    arena.assert_tells_no_secret(verdict)


def _said(verdict: Verdict) -> str:
    """All that a student reads."""
    messages = [item.message for item in (*verdict.checks, *verdict.cases)]
    # The evidence of a public case quotes the submission's own lines, CROSSED in them, so it is not looked at.
    return "\n".join([*messages, verdict.stdout, verdict.stderr])


_State = dict[str, Any]


def _exceeds(now: _State, before: _State) -> bool:
    """Whether there is more than before, or something else."""
    return any(now[name] > before[name] if name in _COUNTS else now[name] != before[name] for name in now)


def _lines(state: _State) -> str:
    return "\n".join(f"{name}: {part}" for name, part in state.items())


def _listeners(name: str) -> Iterator[socket.socket]:
    """Servers on the host, on its loopback interface and at an abstract Unix address."""
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind(f"\0{name}")
    abstract.listen()
    for listener in (socket.create_server(("127.0.0.1", 0)), abstract):
        listener.setblocking(False)
        yield listener


def _left_on_the_host() -> Iterator[str]:
    for folder in _FOLDERS:
        for entry in os.scandir(folder):
            try:
                owner = entry.stat(follow_symlinks=False).st_uid
            except FileNotFoundError:
                continue
            if owner in _FORK_UIDS or entry.name in _PLANTED:
                yield entry.path
