"""`serve` as an operator sees it: a process, its output and its exit code."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from app.core.settings import Settings
from app.core.start_errors import AddressUnusable
from app.entry.cli.api_processes import own_sockets
from tests.app.authoring.zips import ZIP, another, zipped
from tests.app.conftest import POSTGRESQL

SCRIPT = Path(__file__).with_name("serve_null.py")
CHECKOUT = Path(__file__).resolve().parents[4]


def command(*arguments: object) -> list[str]:
    return [sys.executable, str(SCRIPT), "serve", *map(str, arguments)]


def environment(**further: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MESHGRADE_")}
    return kept | {"PYTHONPATH": str(CHECKOUT), "MESHGRADE_API_PROCESSES": "1"} | further


def refused(*arguments: object, **further: str) -> str:
    # Without the stand-in for the judge, which imports what most refusals never reach.
    product = [sys.executable, "-m", "app.entry.cli", "serve", *map(str, arguments)]
    done = subprocess.run(product, env=environment(**further), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2, done
    assert "Traceback" not in done.stderr
    return done.stderr


@contextmanager
def serving(data: Path, **further: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """The process, its address and its sign-in link."""
    process = subprocess.Popen(
        command("--port", 0, "--data", data), env=environment(**further), stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        said = ""
        while "Sign in" not in said:
            line = process.stdout.readline()
            assert line, said
            said += line
        yield process, *re.findall(r"http://\S+", said)[:2]
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_link_works_once_and_a_signal_ends_it_well(tmp_path, number):
    with serving(tmp_path / "data") as (process, address, link):
        assert httpx.get(f"{address}/healthz", timeout=60).json() == {"status": "ok"}
        with httpx.Client(timeout=60) as browser:
            assert browser.get(link).headers["location"] == "/"
            assert browser.get(f"{address}/api/v1/me").json()["role"] == "owner"
        assert httpx.get(link, timeout=60).status_code == 403
        process.send_signal(number)
        assert process.wait(timeout=60) == 0


def test_open_streams_and_a_stuck_grader_do_not_hold_up_the_end(tmp_path):
    further = {"STUCK": "1", "MESHGRADE_OWNER_TOKEN": "preset-token-of-the-owner"}
    with serving(tmp_path / "data", **further) as (process, address, _):
        bearer = {"Authorization": "Bearer preset-token-of-the-owner"}
        made = httpx.post(
            f"{address}/api/v1/problems/fsdp_step/runs", json={"source": "x"}, headers=bearer, timeout=60
        ).json()
        events = f"{address}/api/v1/attempts/{made['id']}/events"
        with httpx.stream("GET", events, headers=bearer, timeout=60) as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: status"
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 0  # half a minute is what a drain may take


def test_a_second_server_on_the_same_data_is_refused(tmp_path):
    with serving(tmp_path / "data") as (process, _, _):
        said = refused("--port", 0, "--data", tmp_path / "data")
        assert f"pid {process.pid}" in said
        assert str(tmp_path / "data") in said
        assert "--data" in said


def test_a_port_in_use_is_named_before_anything_is_made(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = refused("--port", port, "--data", tmp_path / "data")
    assert f"port {port} on 127.0.0.1 is in use" in said
    assert "--port" in said
    assert not (tmp_path / "data").exists()


def test_a_bad_host_a_bad_folder_and_a_short_token_are_refused(tmp_path):
    (tmp_path / "file").write_text("")
    assert "cannot" in refused("--host", "999.999.1.1", "--port", 0, "--data", tmp_path / "data")
    assert str(tmp_path / "file") in refused("--port", 0, "--data", tmp_path / "file")
    said = refused("--port", 0, "--data", tmp_path / "data", MESHGRADE_OWNER_TOKEN="too-short")
    assert "owner_token" in said
    assert "too-short" not in said


def test_the_service_never_imports_jax():
    check = (
        "import app.entry.main, grader.judging.judge, sys; print(sorted({'jax', 'flax', 'optax'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", check], env=environment(), capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("kind", ["sqlite", POSTGRESQL])
def test_several_processes_serve_and_one_that_dies_is_replaced(request, tmp_path, kind):
    further = {
        "MESHGRADE_METRICS_TOKEN": "token-of-the-metrics",
        "MESHGRADE_OWNER_TOKEN": "preset-token-of-the-owner",
        # How often a grading process looks for what dead workers have left: at half of it.
        "MESHGRADE_LEASE_S": "3600",
    }
    if kind == "postgresql":
        further["MESHGRADE_DATABASE_URL"] = request.getfixturevalue("shared_url")
    process = subprocess.Popen(
        command("--port", 0, "--data", tmp_path / "data", "--processes", 2),
        env=environment(**further, PYTHONPATH=f"{told_only_by_events(tmp_path)}{os.pathsep}{CHECKOUT}"),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        said = ""
        while not ("Process 2" in said and "Sign in" in said):
            line = process.stdout.readline()
            assert line, said
            said += line
        address = re.search(r"Meshgrade listens on (\S+)", said)[1]
        first, second = re.findall(r"also listens on ([^\s,]+)", said)
        assert said.count("Sign in") == 1
        (child,) = children_of(process.pid)
        assert handled(second) == handled(first) == 0
        assert [process_of(each) for each in (first, second)] == ["1", "2"]
        # The kernel gives a connection to one of those that wait for it.
        while not (handled(first) and handled(second)):
            assert httpx.get(f"{address}/healthz", timeout=60).status_code == 200
        one_grades_what_the_other_is_sent(first, second)
        one_serves_what_the_other_publishes(first, second)
        one_shows_the_walls_of_the_other(re.search(r"http\S+token=\S+", said)[0], second)
        os.kill(child, signal.SIGKILL)
        while children_of(process.pid) in ([], [child]):
            time.sleep(0.1)
        assert handled(second) == 0
        one_grades_what_the_other_is_sent(first, second)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.wait()


def told_only_by_events(folder: Path) -> Path:
    """A folder for PYTHONPATH: in all processes, nobody looks again for what an event should have told."""
    pauses = (
        ("app.grading.following", "_QUIET_S"),
        ("app.grading.queue.embedded_queue", "_WALLS_AGAIN_S"),
        ("app.grading.queue.procrastinate_queue", "_POLL_S"),
    )
    lines = [f"import {module}\nassert {module}.{name}\n{module}.{name} = 3600.0\n" for module, name in pauses]
    (folder / "sitecustomize.py").write_text("".join(lines))
    return folder


def one_grades_what_the_other_is_sent(first: str, second: str) -> None:
    # It gives up a moment before the server does, which would then read the row again.
    with httpx.Client(headers={"Authorization": "Bearer preset-token-of-the-owner"}, timeout=60) as http:
        made = http.post(f"{second}/api/v1/problems/fsdp_step/runs?wait=60", json={"source": "x"})
        assert made.json()["status"] == "finished"
        shown = http.get(f"{second}/readyz").json()
        assert (shown["workers"], shown["pool"]) == (1, None)


def one_serves_what_the_other_publishes(first: str, second: str) -> None:
    with httpx.Client(headers={"Authorization": "Bearer preset-token-of-the-owner"}, timeout=60) as http:
        for sender, reader, slug in ((first, second, "one"), (second, first, "two")):
            path = f"/api/v1/problems/published_by_{slug}"
            sent = http.put(f"{sender}{path}", content=zipped(another(f"published_by_{slug}")), headers=ZIP).json()
            body = {"version": sent["version"], "force": True}
            assert http.post(f"{sender}{path}/publish", json=body).status_code == 200
            while http.get(f"{reader}{path}").status_code == 404:
                time.sleep(0.05)
            assert http.get(f"{reader}{path}").json()["version"] == sent["version"]


def one_shows_the_walls_of_the_other(link: str, second: str) -> None:
    with httpx.Client(follow_redirects=True, timeout=60) as browser:
        browser.get(link)
        while "<div>namespaces</div>" not in (page := browser.get(f"{second}/service")).text:
            assert page.status_code == 200
            time.sleep(0.1)


def children_of(pid: int) -> list[int]:
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def handled(address: str) -> int:
    """How many requests for /healthz a process has handled, once it listens."""
    found = re.search(r'http_requests_total\{[^}]*route="/healthz"[^}]*\} (\d+)', metrics_of(address))
    return int(found[1]) if found else 0


def process_of(address: str) -> str:
    """The label that says which process counted."""
    [process] = set(re.findall(r'process="(\d+)"', metrics_of(address)))
    return process


def metrics_of(address: str) -> str:
    for _ in range(600):
        with suppress(httpx.TransportError):
            headers = {"Authorization": "Bearer token-of-the-metrics"}
            return httpx.get(f"{address}/metrics", headers=headers, timeout=60).text
        time.sleep(0.1)
    raise AssertionError(f"{address} does not listen")


@pytest.mark.parametrize("numbers", ["abc", "77", "1,,2"])
def test_sockets_that_nobody_opened_are_refused(tmp_path, numbers):
    said = refused("--data", tmp_path / "data", "--listeners", numbers)
    assert "names no open sockets" in said
    assert "--processes" in said


def test_no_more_processes_than_cores_help_and_nobody_is_refused_a_port_for_them(monkeypatch):
    for cores, processes in ((1, 1), (2, 1), (3, 2), (64, 2)):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, cores=cores: set(range(cores)))
        assert Settings().api_processes == processes
    with own_sockets(Settings(), 8000) as own:
        assert own == [], "nobody could read /metrics there"
    token = SecretStr("token-of-the-metrics")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with own_sockets(Settings(port=port - 1, metrics_token=token), port - 1) as own:
            assert len({port, *(each.getsockname()[1] for each in own)}) == 3
        asked = Settings(port=port - 1, metrics_token=token, api_processes=2)
        with pytest.raises(AddressUnusable), own_sockets(asked, port - 1):
            pass
