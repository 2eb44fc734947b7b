"""A real `meshgrade serve` in its own process and folder, and a client that waits for verdicts."""

import http.client
import itertools
import json
import os
import queue
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from benchmarks.errors import BenchmarkFailed
from benchmarks.plain_processes import Rate
from benchmarks.processes import cpu_s, wait_until_quiet
from benchmarks.workload import CHECKOUT

Say = Callable[[str], None]
_START_LIMIT_S = 300.0
_SETTLE_LIMIT_S = 60.0
_WAIT_S = 60
_LOOK_S = 0.01


@dataclass(frozen=True, slots=True)
class Graded:
    """An accepted submission: milliseconds from the POST to the verdict, and the verdict's own times by stage."""

    taken_ms: float
    timings_ms: dict[str, int]


@dataclass(frozen=True, slots=True)
class Explored:
    """Milliseconds from the POST of an exploration to its first program, and to its whole result."""

    first_ms: float
    taken_ms: float


class Server:
    """A server that runs from its construction, which waits until the problem is ready, to the end of `with`.

    Args:
      data: a data folder that does not exist yet.
      problems: the folder of problems to serve.
      kind: the path of the POST: SLUG/attempts, graded on all cases, or SLUG/runs, graded on the public ones. If it is
        empty, no problem has to be ready.
      module: the command line to run, such as the one with a stand-in for the judge.
      settings: environment variables to add.
    Raises:
      BenchmarkFailed: the server did not start, or refuses to grade.
    """

    def __init__(
        self,
        data: Path,
        problems: Path,
        kind: str,
        say: Say,
        module: str = "app.entry.cli",
        *,
        start_limit_s: float = _START_LIMIT_S,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self._start_limit_s = start_limit_s
        self._said: list[str] = []
        self._token = secrets.token_hex(16)
        self._kind = kind
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._posted = itertools.count(1)
        self._last = ""
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, "serve", "--port", "0", "--data", str(data)],
            env=self._variables(problems) | dict(settings or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            self.address = urlsplit(self.wait_for("Meshgrade listens on ", say).split()[-1]).netloc
            if kind:
                self.wait_for(f"{kind.partition('/')[0]} is ready", say)
        except BaseException:
            self.__exit__()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    def post(self, source: str) -> Graded:
        """Submit, and wait for the verdict. Each submission has other lines, so that no program is already known.

        Raises:
          BenchmarkFailed: the verdict is not "accepted".
        """
        self._last = "\n" * next(self._posted) + source
        return self._accepted(self._last)

    def post_again(self) -> Graded:
        """Submit what was submitted last. Raises the errors of `post`."""
        return self._accepted(self._last)

    def _accepted(self, source: str) -> Graded:
        taken_ms, verdict = self.grade(self._kind, source)
        if verdict.get("status") != "accepted":
            raise BenchmarkFailed(f"an accepted submission was answered with {json.dumps(verdict)[:1500]}")
        return Graded(taken_ms, verdict["timings_ms"])

    def grade(self, kind: str, source: str) -> tuple[float, dict[str, Any]]:
        """Submit to SLUG/attempts or SLUG/runs. Returns the milliseconds until the verdict, and the verdict.

        Raises:
          BenchmarkFailed: there is no verdict.
        """
        body = json.dumps({"source": source})
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        started = time.perf_counter()
        status, answer = self._ask("POST", f"/api/v1/problems/{kind}?wait={_WAIT_S}", body, headers)
        taken_ms = (time.perf_counter() - started) * 1000
        verdict = answer.get("verdict")
        if status != 200 or not verdict:
            raise BenchmarkFailed(f"no verdict on {kind} within {_WAIT_S} s: {status}, {json.dumps(answer)[:1500]}")
        return taken_ms, verdict

    def explore(
        self, slug: str, source: str, *, chip: str | None = None, function: Mapping[str, object] | None = None
    ) -> Explored:
        """Explore a source for a problem, or a `function` of the source, and wait for the result.

        Raises:
          BenchmarkFailed: there is no result, or the source has no program.
        """
        subject = {"problem": slug} if function is None else {"function": function}
        body = json.dumps({**subject, "source": source, "chip": chip})
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        started = time.perf_counter()
        status, found = self._ask("POST", "/api/v1/explorations", body, headers)
        first_ms: float | None = None
        while status in (200, 202) and found["status"] != "finished" and time.perf_counter() < started + _WAIT_S:
            time.sleep(_LOOK_S)
            status, found = self._ask("GET", f"/api/v1/explorations/{found['id']}", None, headers)
            if first_ms is None and found.get("partial_result"):
                first_ms = (time.perf_counter() - started) * 1000
        taken_ms = (time.perf_counter() - started) * 1000
        if not (found.get("result") or {}).get("programs"):
            raise BenchmarkFailed(f"no program of {slug} within {_WAIT_S} s: {status}, {json.dumps(found)[:1500]}")
        compiled = found["result"]["programs"][0]["on_chip"]
        if chip is not None and (compiled is None or compiled["fault"]):
            raise BenchmarkFailed(f"no program for {chip}: {json.dumps(compiled)[:1500]}")
        return Explored(taken_ms if first_ms is None else first_ms, taken_ms)

    def post_many(self, source: str, *, at_once: int, count: int) -> Rate:
        """Submit `count` times, `at_once` clients side by side, each waiting for its verdict before the next.

        CPU time counts the service and everything below it until it is at rest again. It therefore includes warming
        new forks for those that were used up.
        """
        self.settle()
        cpu_before = cpu_s(self.pid)
        started = time.perf_counter()
        with ThreadPoolExecutor(at_once) as clients:
            list(clients.map(lambda _: self.post(source), range(count)))
        taken_s = time.perf_counter() - started
        self.settle()
        return Rate(count / taken_s, (cpu_s(self.pid) - cpu_before) / count)

    def settle(self) -> None:
        """Wait until nothing is queued, running or being warmed, and warm forks are waiting."""
        deadline = time.monotonic() + _SETTLE_LIMIT_S
        while time.monotonic() < deadline:
            wait_until_quiet(self.pid)
            status, answer = self._ask("GET", "/readyz")
            if status != 200:
                raise BenchmarkFailed(f"the service is not ready: {answer.get('detail')}")
            pool = answer["pool"] or {"warm": {}}
            if answer["queued"] == answer["running"] == 0 and all(pool["warm"].values()):
                return
        raise BenchmarkFailed(f"the service has not come to rest after {_SETTLE_LIMIT_S:.0f} s: {answer}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _variables(self, problems: Path) -> dict[str, str]:
        """Return default settings, whatever the environment says, with the limits per person lifted."""
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("MESHGRADE_", "JAX_", "XLA_"))
        }
        return kept | {
            "PYTHONPATH": str(CHECKOUT),
            "MESHGRADE_OWNER_TOKEN": self._token,
            "MESHGRADE_PROBLEMS": str(problems),
            "MESHGRADE_MAX_WAITING_PER_USER": "1000",
            "MESHGRADE_REQUESTS_PER_MINUTE": "1000000",
        }

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.rstrip())
        self._lines.put(None)

    def wait_for(self, words: str, say: Say) -> str:
        """Return the line of output with these words, waiting for it unless it has already been printed.

        Raises:
          BenchmarkFailed: the service ended, refuses to grade, or takes too long.
        """
        if found := next((line for line in self._said if words in line), None):
            return found
        deadline = time.monotonic() + self._start_limit_s
        while time.monotonic() < deadline:
            try:
                line = self._lines.get(timeout=1)
            except queue.Empty:
                continue
            if line is None:
                break
            self._said.append(line)
            if words in line:
                return line
            if line.startswith("preparing"):
                say(line)
            if "NOT GRADING" in line or "could not prepare" in line:
                break
        raise BenchmarkFailed("the service did not start:\n" + "\n".join(self._said[-20:]))

    def open(self, slug: str) -> None:
        """Read the page of a problem, as somebody does who may soon submit to it."""
        connection = http.client.HTTPConnection(self.address, timeout=_WAIT_S)
        try:
            connection.request("GET", f"/problems/{slug}")
            connection.getresponse().read()
        finally:
            connection.close()

    def _ask(
        self, method: str, path: str, body: str | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, Any]]:
        connection = http.client.HTTPConnection(self.address, timeout=_WAIT_S + 30)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()
