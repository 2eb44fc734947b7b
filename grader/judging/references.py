"""Cases and reference answers: computed by a package's own code on first request, then cached.

cases.py and reference.py each run in their own sandbox, never with a student's submission, and only arrays come out.
The cache on disk is keyed by package version and variant, versions of JAX and its libraries, and case. Its files are
wire frames, so reading one executes nothing.
"""

import collections
import hashlib
import hmac
import importlib.metadata
import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Protocol

from grader.core.context import Context, Stop
from grader.core.errors import Cancelled, GraderFault
from grader.modes import Modes
from grader.modes.mode import Prepared
from grader.package.package import Package
from grader.sandbox.background_gate import BackgroundGate
from grader.sandbox.background_sandbox import BackgroundSandbox
from grader.sandbox.protocol import Sandbox
from grader.sandbox.retry_backoff import RetryBackoff

log = logging.getLogger("meshgrade.judge")
# Version of the cached files. Change it when their form, the verifier's compiler options or the drawn cases change.
_FORMAT = "17"
_LOOK_S = 0.2
# The longest pause between two tries in the background. A reference usually fails because the machine is busy, and
# until it succeeds, every grading has to wait for it.
_LONGEST_PAUSE_S = 120.0
# How many problems' answers are kept in memory. The largest take 30 MB, and reading them again takes 0.05 s.
_KEPT = 16
_CPU_INFO = Path("/proc/cpuinfo")


class SharedAnswers(Protocol):
    """Files that other machines computed for the cache, by name, under a key. Any thread may call it."""

    def fetch(self, key: str) -> Mapping[str, bytes] | None: ...

    def offer(self, key: str, files: Mapping[str, bytes]) -> None: ...


class References:
    """Computes each package's cases and reference answers once, and caches them. Threads may share one.

    Args:
      modes: run the package's code.
      secret: the deployment's secret; hidden inputs are derived from it.
      cache: a folder that no other user can write.
      idle: tells when nothing is being graded. Background requests wait for that, and yield to a foreground request for
        the same package.
    """

    def __init__(self, modes: Modes, secret: bytes, cache: Path, idle: BackgroundGate | None = None) -> None:
        self._modes = modes
        self._secret = secret
        self._cache = cache
        self._idle = idle or BackgroundGate()
        self.shared: SharedAnswers | None = None
        # The one that was used last is at the end.
        self._prepared: dict[str, Prepared] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._background: dict[str, threading.Event] = {}
        self._wanted: collections.Counter[str] = collections.Counter()
        self._guard = threading.Condition()
        # Setbacks by version, shared by all callers: a success ends one, and a failure extends it.
        self.setbacks = RetryBackoff(longest_pause_s=_LONGEST_PAUSE_S)

    def prepare(self, package: Package, context: Context, *, background: bool = False) -> Prepared:
        """Return the cases and answers of a package from memory, from disk, or by running its code.

        Raises:
          GraderFault: the package's code failed; the message says which file and how. In the background, also raised
            after a recent failure, until the next try is due.
          Cancelled: the caller stopped it, or a foreground request for the same package took over.
        """
        with self._turn(package, context.stop, background) as (sandbox, stop):
            version = package.identity
            prepared = self._kept(version)
            if prepared is None:
                if background and not self.setbacks.is_due(version) and (setback := self.setbacks.of(version)):
                    raise GraderFault(setback.why)
                try:
                    prepared = self._make(package, sandbox, Context(context.progress, stop))
                except Cancelled:
                    raise
                except Exception as error:  # catch everything, because the next try may succeed
                    why = str(error) if isinstance(error, GraderFault) else type(error).__name__
                    self.setbacks.failed(version, why)
                    raise
                self.setbacks.succeeded(version)
            self._keep(version, prepared)
            return prepared

    def _kept(self, version: str) -> Prepared | None:
        with self._guard:
            return self._prepared.pop(version, None)

    def _keep(self, version: str, prepared: Prepared) -> None:
        with self._guard:
            self._prepared[version] = prepared
            while len(self._prepared) > _KEPT:
                del self._prepared[next(iter(self._prepared))]

    def _make(self, package: Package, sandbox: Sandbox, context: Context) -> Prepared:
        folder = self._cache / self._key(package)
        mode = self._modes.of(package)
        prepared: Prepared | None = mode.load(folder)
        if prepared is None and self._fetch(folder):
            prepared = mode.load(folder)
        if prepared is None:
            prepared = mode.prepare(sandbox, self._case_key(package), context)
            mode.store(folder, prepared)
            self._offer(folder)
        return prepared

    def _fetch(self, folder: Path) -> bool:
        """Copy the files into `folder` if another machine has computed them. Return whether it has."""
        files = self.shared.fetch(_shared_key(folder.name)) if self.shared is not None else None
        if files is None:
            return False
        if any(Path(name).name != name for name in files):
            log.error("What is shared under %s has names with folders, so it is not used.", folder.name)
            return False
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # Write the list of cases last. It is read first, and says which other files must exist.
        for name in sorted(files, key="cases.frame".__eq__):
            (folder / name).write_bytes(files[name])
        return True

    def _offer(self, folder: Path) -> None:
        if self.shared is not None:
            files = {file.name: file.read_bytes() for file in folder.glob("*.frame")}
            self.shared.offer(_shared_key(folder.name), files)

    @contextmanager
    def _turn(self, package: Package, stop: Stop, background: bool) -> Iterator[tuple[Sandbox, Stop]]:
        """Hold the package's lock. A foreground request stops background work on the same package.

        Background work waits until no foreground request needs the package. Locks are not fair: without this, it could
        take the lock again before the request that it yielded to.
        """
        key, sandbox = package.identity, self._modes.sandbox
        with self._guard:
            lock = self._locks.setdefault(key, threading.Lock())
            if background:
                while self._wanted[key] and not stop.is_set():
                    self._guard.wait(_LOOK_S)
                own = self._background[key] = _Either(stop)
            else:
                self._wanted[key] += 1
                if key in self._background:
                    self._background[key].set()
        try:
            with lock:
                yield (BackgroundSandbox(sandbox, self._idle, own), own) if background else (sandbox, stop)
        finally:
            with self._guard:
                if background:
                    self._background.pop(key, None)
                else:
                    self._wanted[key] -= 1
                    self._guard.notify_all()

    def _key(self, package: Package) -> str:
        """A hash of everything that the answers depend on, including a digest of the secret."""
        versions = [
            f"{name}={importlib.metadata.version(name)}" for name in ("jax", "jaxlib", "flax", "optax", "numpy")
        ]
        parts = [_FORMAT, package.slug, package.identity, *versions, self._case_key(package)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def _case_key(self, package: Package) -> str:
        """HMAC(deployment secret, problem, version, variant) in hex. Each hidden case's seed is derived from it."""
        text = f"meshgrade hidden cases\n{package.slug}\n{package.identity}"
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()


def _shared_key(key: str) -> str:
    """The key under which machines share answers. It has the processor, on which facts and last digits depend."""
    return hashlib.sha256(f"{key}\n{_processor()}".encode()).hexdigest()


@cache
def _processor() -> str:
    """The model of this machine's first core and the instructions that it has."""
    lines = _CPU_INFO.read_text().partition("\n\n")[0].splitlines()
    return "\n".join(line for line in lines if line.startswith(("model name", "flags", "Features", "CPU part")))


class _Either(threading.Event):
    """An event that is set once either it or `other` is."""

    def __init__(self, other: Stop) -> None:
        super().__init__()
        self._other = other

    def is_set(self) -> bool:
        return super().is_set() or self._other.is_set()
