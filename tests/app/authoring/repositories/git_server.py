"""A git repository of a test's own, served over http by git's own server program."""

import base64
import os
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from tests.app.conftest import FILES

# A package that keeps every rule of `check` that needs no judge.
ADD_ONE = FILES | {"statement.md": "Write `add_one(x)`, which adds one.\n"}


def write_tree(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def below(folder: str, files: Mapping[str, str]) -> dict[str, str]:
    return {f"{folder}/{name}": text for name, text in files.items()}


class GitServer:
    """`password` is what clients must send, if it is set. `redirect` sends them elsewhere. `seen` has all paths.

    While `held` is not set, nothing is answered.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.work = root / "problems.git"
        self.password: str | None = None
        self.redirect: str | None = None
        self.seen: list[str] = []
        self.held = threading.Event()
        self.held.set()
        self.port = 0
        self.git("init", "--quiet", "--initial-branch=main", str(self.work), at=root)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/problems.git"

    def git(self, *arguments: str, at: Path | None = None) -> str:
        environment = {
            **os.environ,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{who}_{what}": "ada@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }
        command = ["git", "-C", str(at or self.work), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()

    def commit(self, files: Mapping[str, str]) -> str:
        """Write these files, and commit everything. Returns the commit."""
        write_tree(self.work, files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "x")
        return self.git("rev-parse", "HEAD")


@contextmanager
def serving_git(root: Path) -> Iterator[GitServer]:
    served = GitServer(root)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._respond(b"")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            self._respond(body)

        def _respond(self, body: bytes) -> None:
            parts = urlsplit(self.path)
            served.seen.append(self.path)
            served.held.wait()
            if served.redirect is not None:
                return self._refuse(302, {"Location": served.redirect + self.path})
            if served.password is not None:
                expected = base64.b64encode(f"x-access-token:{served.password}".encode()).decode()
                if self.headers.get("authorization") != f"Basic {expected}":
                    return self._refuse(401, {"WWW-Authenticate": 'Basic realm="git"'})
            environment = {
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": str(served.root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "GIT_PROTOCOL": self.headers.get("git-protocol", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("content-encoding", ""),
                "REQUEST_METHOD": self.command,
                "PATH_INFO": parts.path.replace("/problems.git", "/problems.git/.git", 1),
                "QUERY_STRING": parts.query,
                "CONTENT_TYPE": self.headers.get("content-type", ""),
                "CONTENT_LENGTH": str(len(body)),
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": "safe.directory",
                "GIT_CONFIG_VALUE_0": "*",
            }
            done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=environment)
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n") if line)
            self.send_response(int(headers.pop("Status", "200 OK").split()[0]))
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _refuse(self, status: int, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": "0"}.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield served
    served.held.set()
    server.shutdown()
    server.server_close()
    thread.join()
