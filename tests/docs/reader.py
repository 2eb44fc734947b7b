"""A reader who follows one page of documentation, in a shell at a terminal, in a folder that looks like a checkout."""

import contextlib
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from grader.package.pitfalls import without_marks
from tests.docs.pages import CHECKOUT

TOKEN = "preset-token-of-the-owner"
PROMPT = b"token"
# Seconds for one command under load. The longest one prepares a judge and grades.
PATIENCE_S = 200
# `3` carries the commands, each ended by a NUL, and `4` the exit status of each. Standard input is the terminal.
_LOOP = """
while IFS= read -r -d '' command <&3; do
  eval "$command" >"$DOCS_RUNNING/output" 2>&1 3<&- 4>&-
  status=$?
  for job in $(jobs -p); do wait "$job" || status=$?; done
  echo "$status" >&4
done
"""
_COPIED = ("docs", "pyproject.toml", "uv.lock", "CONTRIBUTING.md")
_LINKED = ("app", "grader", "tests", "benchmarks", "migrations", "deploy", "frontend")
_JUDGE = "-m app.entry.cli"
_NULL_SERVE = str(CHECKOUT / "tests" / "app" / "entry" / "cli" / "serve_null.py")
_NULL_WORKER = str(CHECKOUT / "tests" / "app" / "entry" / "cli" / "worker_null.py")


@dataclass(frozen=True, slots=True)
class Done:
    status: int
    output: str


class Reader:
    """Runs commands one after the other, so that a variable or a folder of one holds for the next. Used by one test."""

    def __init__(
        self,
        folder: Path,
        *,
        problems: dict[str, list[str]],
        judge: bool,
        database_url: str | None,
        before_each: Callable[[], object] = lambda: None,
    ) -> None:
        """`problems` names the served problems, each with the rejected submissions that it keeps: preparing the others
        takes time. Without `judge` the service compares texts with the reference and runs nothing. `before_each` is
        called before each command.
        """
        self._before_each = before_each
        self.folder = folder
        self._port = _free_port()
        self._database_url = database_url
        self._running = folder / ".running"
        self._set_up(problems)
        self._master, terminal = pty.openpty()
        commands, self._commands = os.pipe()
        self._statuses, statuses = os.pipe()
        self._shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc", "-c", f"exec 3<&{commands} 4>&{statuses}\n{_LOOP}"],
            cwd=folder,
            env=self._environment(judge),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            pass_fds=(commands, statuses),
            preexec_fn=_own_terminal,
        )
        for each in (terminal, commands, statuses):
            os.close(each)

    def _set_up(self, problems: dict[str, list[str]]) -> None:
        self._running.mkdir(parents=True)
        for name in _COPIED:
            source = CHECKOUT / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, self.folder / name)
        for name in _LINKED:
            (self.folder / name).symlink_to(CHECKOUT / name)
        (self.folder / ".venv").symlink_to(sys.prefix)
        shutil.copy(Path(__file__).with_name("meshgrade.sh"), self.folder / "meshgrade")
        (self.folder / "problems").mkdir()
        for slug, kept in problems.items():
            shutil.copytree(
                CHECKOUT / "problems" / slug,
                self.folder / "problems" / slug,
                ignore=lambda folder, names, kept=kept: (
                    [name for name in names if name not in kept and name.endswith(".py")]
                    if "rejected" in Path(folder).parts
                    else ["__pycache__"]
                ),
            )
            for reason in (self.folder / "problems" / slug / "submissions" / "rejected").iterdir():
                if not any(reason.iterdir()):
                    reason.rmdir()
            # Remove the marks in the statement that name submissions that are no longer there.
            statement = self.folder / "problems" / slug / "statement.md"
            statement.write_text(without_marks(statement.read_text()))

    def _environment(self, judge: bool) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("MESHGRADE_")}
        return kept | {
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder / ".config"),
            "PYTHONPATH": str(CHECKOUT),
            "COLUMNS": "100",
            "PAGER": "cat",
            "MESHGRADE_DATA": str(self.folder / "data"),
            "MESHGRADE_PROBLEMS": str(self.folder / "problems"),
            "MESHGRADE_PORT": str(self._port),
            "MESHGRADE_OWNER_TOKEN": TOKEN,
            "MESHGRADE_GRADING_SLOTS": "1",
            "MESHGRADE_POOL_PER_PROBLEM": "1",
            "DOCS_RUNNING": str(self._running),
            "DOCS_PYTHON": sys.executable,
            "DOCS_SERVE": _JUDGE if judge else _NULL_SERVE,
            "DOCS_WORKER": _NULL_WORKER,
        }

    def run(self, command: str) -> Done:
        """Run one command, answering a question for a token. Raises TimeoutError if it does not end."""
        self._before_each()
        os.write(self._commands, self._as_here(command).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE_S
        asked = b""
        while time.monotonic() < deadline:
            ready, _, _ = select.select([self._statuses, self._master], [], [], 1)
            if self._master in ready:
                asked += os.read(self._master, 4096)
                if PROMPT in asked:
                    os.write(self._master, f"{TOKEN}\n".encode())
                    asked = b""
            if self._statuses in ready:
                output = (self._running / "output").read_text(encoding="utf-8", errors="replace")
                return Done(int(os.read(self._statuses, 16)), output)
        raise TimeoutError(f"{command}\n{(self._running / 'output').read_text(encoding='utf-8', errors='replace')}")

    def write(self, file: str, text: str) -> None:
        path = self.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def _as_here(self, command: str) -> str:
        """Replace the documentation's addresses by this machine's."""
        here = f"http://127.0.0.1:{self._port}"
        for there in ("http://127.0.0.1:8000", "https://grader.example.org"):
            command = command.replace(there, here)
        if self._database_url:
            command = re.sub(r"postgresql://\S+/meshgrade", self._database_url, command)
        return command

    def close(self) -> None:
        os.close(self._commands)
        self._shell.kill()
        self._shell.wait()
        for file in self._running.glob("*.pid"):
            _end(int(file.read_text()))
        for each in (self._master, self._statuses):
            os.close(each)


def _own_terminal() -> None:
    """Run in the new shell: its standard input becomes its terminal, where `login` asks for a token."""
    os.login_tty(0)


def _end(process: int) -> None:
    """Interrupt a process as Ctrl-C does, then kill it. It is not our child, so we can only watch for its end."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGTERM)
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            os.killpg(process, 0)
            time.sleep(0.05)
        os.killpg(process, signal.SIGKILL)


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
