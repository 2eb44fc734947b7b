"""Reads the packages of a git repository, with the git command. Nothing is ever checked out.

Objects are fetched into an empty folder and read from there, so neither links, nor hooks, filters and submodules of the
repository have an effect, and no name of a file in it becomes a path. git gets addresses that were checked, no
configuration but ours, and no way to ask anyone for a password.
"""

import base64
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.authoring.repositories.errors import SyncFailed
from app.authoring.repositories.tree import Entry, Snapshot, packages_in
from grader.core.text import plain_text

# The first version that connects to an address that was resolved before. An earlier one ignores that setting.
LEAST = (2, 37)
NEEDED = "git 2.37 or later is needed to sync repositories"
_FETCH_S = 120.0
_LOCAL_S = 30.0
_MAX_MIB = 64
_LOOK_S = 0.1
# A listing line has a path of up to 4 KiB. Nothing that git prints here is longer.
_LIMITED = 'ulimit -f "$1" && ulimit -v 2097152 && ulimit -c 0 && shift && exec "$@"'
_LINE = re.compile(rb"(\d{6}) (\w+) ([0-9a-f]{40,64}) +(\d+|-)\t(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Remote:
    """Where to fetch from. `addresses` are those to which the name of the URL resolves, all of which were checked.

    If `addresses` is empty, git resolves the name itself: a private network is permitted.
    """

    url: str
    host: str
    port: int
    addresses: tuple[str, ...]
    branch: str
    folder: str
    username: str
    token: str | None


def usable_git() -> str | None:
    """The path of the git command, or None if there is none or it is too old."""
    path = shutil.which("git")
    if path is None:
        return None
    try:
        done = subprocess.run([path, "--version"], capture_output=True, timeout=10, env=_environment(Path("/"), ()))
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(rb"(\d+)\.(\d+)", done.stdout)
    return path if found and (int(found[1]), int(found[2])) >= LEAST else None


def read_git(remote: Remote, stop: threading.Event) -> Snapshot:
    """Fetch the latest commit of the branch, and read the packages in its folder.

    Raises:
      SyncFailed: it cannot be fetched, is too large, or has no packages.
    """
    git = usable_git()
    if git is None:
        raise SyncFailed(f"{NEEDED}. An operator can install it on the server.")
    with tempfile.TemporaryDirectory(prefix="meshgrade-sync-") as name:
        return _Repository(git, Path(name), remote, stop).read()


class _Repository:
    """An empty repository in its own folder, which exists for one sync."""

    def __init__(self, git: str, home: Path, remote: Remote, stop: threading.Event) -> None:
        self._git = git
        self._home = home
        self._remote = remote
        self._stop = stop
        self._folder = home / "objects.git"

    def read(self) -> Snapshot:
        # A template would bring hooks.
        self._local("init", "--quiet", "--bare", "--template=", str(self._folder))
        self._fetch()
        tree = f"FETCH_HEAD:{self._remote.folder}" if self._remote.folder else "FETCH_HEAD^{tree}"
        commit = self._inside("rev-parse", "--verify", "--quiet", "FETCH_HEAD^{commit}").decode("ascii").strip()
        try:
            listing = self._inside("ls-tree", "-r", "-z", "-l", "--full-tree", tree)
        except SyncFailed:
            raise SyncFailed(f"The branch has no folder {self._remote.folder!r}.") from None
        return Snapshot(commit, packages_in(_entries(listing), self._contents))

    def _fetch(self) -> None:
        branch = self._remote.branch
        ref = f"refs/heads/{branch}" if branch else "HEAD"
        options = [
            "--quiet",
            "--depth=1",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-auto-gc",
            "--no-write-commit-graph",
        ]
        done = self._run(
            [*self._at(), "fetch", *options, "--", self._remote.url, ref],
            _settings_of(self._remote),
            timeout_s=_FETCH_S,
        )
        if done.returncode:
            raise SyncFailed(_why_not_fetched(done.stderr.decode("utf-8", "replace"), self._remote))

    def _contents(self, entries: list[Entry]) -> dict[str, bytes]:
        keys = "".join(f"{each.key}\n" for each in entries).encode("ascii")
        data = self._inside("cat-file", "--batch", stdin=keys)
        found, at = {}, 0
        for each in entries:
            header_end = data.index(b"\n", at)
            size = int(data[at:header_end].rsplit(b" ", 1)[1])
            found[each.path] = data[header_end + 1 : header_end + 1 + size]
            at = header_end + 1 + size + 1
        return found

    def _at(self) -> list[str]:
        return [self._git, "--git-dir", str(self._folder)]

    def _inside(self, *arguments: str, stdin: bytes = b"") -> bytes:
        return self._checked([*self._at(), *arguments], stdin)

    def _local(self, *arguments: str) -> bytes:
        return self._checked([self._git, *arguments], b"")

    def _checked(self, command: list[str], stdin: bytes) -> bytes:
        done = self._run(command, (), timeout_s=_LOCAL_S, stdin=stdin)
        if done.returncode:
            raise SyncFailed(
                f"git could not read what it fetched: {_last_line(done.stderr.decode('utf-8', 'replace'))}"
            )
        return done.stdout

    def _run(
        self, command: list[str], settings: Sequence[tuple[str, str]], *, timeout_s: float, stdin: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        """Run git in its own process group, and end the group when time or space runs out."""
        blocks = str(_MAX_MIB << 11)  # of 512 bytes, as POSIX says
        out, err, into = (self._home / name for name in ("out", "err", "in"))
        into.write_bytes(stdin)
        with out.open("wb") as stdout, err.open("wb") as stderr, into.open("rb") as source:
            process = subprocess.Popen(
                ["/bin/sh", "-c", _LIMITED, "sh", blocks, *command],
                stdin=source,
                stdout=stdout,
                stderr=stderr,
                cwd=self._home,
                env=_environment(self._home, settings),
                start_new_session=True,
            )
            try:
                self._wait(process, timeout_s)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return subprocess.CompletedProcess(command, process.returncode, out.read_bytes(), err.read_bytes()[-8192:])

    def _wait(self, process: subprocess.Popen[bytes], timeout_s: float) -> None:
        ends_at = time.monotonic() + timeout_s
        while True:
            try:
                process.wait(_LOOK_S)
                return
            except subprocess.TimeoutExpired:
                pass
            if self._stop.is_set():
                raise SyncFailed("The server was stopped during this sync. Sync again.")
            if time.monotonic() > ends_at:
                raise SyncFailed(
                    f"It took over {timeout_s:.0f} s. A repository that contains only problems is fetched in seconds."
                )
            if _size_of(self._home) > _MAX_MIB << 20:
                raise SyncFailed(f"Its latest commit has over {_MAX_MIB} MiB. Keep problems in their own repository.")


def _environment(home: Path, settings: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Nothing of ours: no proxy, no configuration of the machine, no credentials, no trace of secrets.

    Settings are passed in the environment, because every user of the machine can read a command line.
    """
    clean = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "/bin/false",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_CONFIG_COUNT": str(len(settings)),
    }
    for number, (key, value) in enumerate(settings):
        clean[f"GIT_CONFIG_KEY_{number}"] = key
        clean[f"GIT_CONFIG_VALUE_{number}"] = value
    return clean


def _settings_of(remote: Remote) -> list[tuple[str, str]]:
    settings = [
        # Everything else is refused: ext:: runs commands, file:// reads the server, ssh has keys.
        ("protocol.allow", "never"),
        (f"protocol.{'http' if remote.url.startswith('http://') else 'https'}.allow", "always"),
        # A redirect would lead to an address that nobody checked. Other sources of objects are off as well.
        ("http.followRedirects", "false"),
        ("http.proxy", ""),
        ("transfer.bundleURI", "false"),
        ("credential.helper", ""),
        ("core.hooksPath", os.devnull),
        ("core.askPass", "/bin/false"),
        ("fetch.recurseSubmodules", "false"),
        # One pack, whose size the limit for files bounds, and never many loose objects.
        ("fetch.unpackLimit", "1"),
        ("core.bigFileThreshold", "1m"),
        ("pack.threads", "1"),
        ("gc.auto", "0"),
        ("maintenance.auto", "false"),
        ("http.lowSpeedLimit", "1000"),
        ("http.lowSpeedTime", "30"),
        ("http.userAgent", "Meshgrade-Sync/1"),
    ]
    if remote.addresses:
        bracketed = [f"[{each}]" if ":" in each else each for each in remote.addresses]
        settings.append(("http.curloptResolve", f"{remote.host}:{remote.port}:{','.join(bracketed)}"))
    if remote.token is not None:
        basic = base64.b64encode(f"{remote.username}:{remote.token}".encode()).decode("ascii")
        settings.append(("http.extraHeader", f"Authorization: Basic {basic}"))
    return settings


def _entries(listing: bytes) -> list[Entry]:
    entries = []
    for line in listing.split(b"\0")[:-1]:
        found = _LINE.fullmatch(line)
        if found is None:
            raise SyncFailed("git listed a file in an unknown format.")
        mode, kind, key, size, path = found.groups()
        is_plain = kind == b"blob" and mode in (b"100644", b"100755")
        entries.append(
            Entry(path.decode("utf-8", "replace"), is_plain, int(size) if size != b"-" else 0, key.decode("ascii"))
        )
    return entries


def _why_not_fetched(stderr: str, remote: Remote) -> str:
    """A sentence that says what to do. git's own last line is shown only if none is known."""
    if "couldn't find remote ref" in stderr:
        return f"It has no branch {remote.branch!r}." if remote.branch else "It has no commits yet."
    if "could not read Username" in stderr or "Authentication failed" in stderr or "error: 401" in stderr:
        rest = "It refused the access token." if remote.token else "If it is private, register it with an access token."
        return f"The repository does not exist, or needs an access token. {rest}"
    if "error: 403" in stderr:
        return "The server of the repository refuses access (HTTP 403). Check what the access token permits."
    if "error: 404" in stderr or "not found" in stderr:
        return "There is no git repository at this address. If it is private, register it with an access token."
    if "unable to update url base from redirection" in stderr or re.search(r"error: 30[1278]", stderr):
        return "The address redirects to another one. Register the final address, which often ends with .git."
    return f"git could not fetch it: {_last_line(stderr)}"


def _last_line(stderr: str) -> str:
    lines = [line for line in stderr.splitlines() if line.startswith(("fatal: ", "error: "))]
    return plain_text(lines[-1] if lines else "no reason given")[:200]


def _size_of(folder: Path) -> int:
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(path, name)).st_size
    return total
