"""`doctor` tests the walls that the service would grade behind, and grades; its exit status is the result."""

import http.server
import json
import threading
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from app.cli.__main__ import app
from app.cli.doctor import try_grading
from app.settings import Settings, load_settings
from grader.sandbox.doctor import WallReport
from grader.trial import Trial


@pytest.fixture(autouse=True)
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A port on which a small server answers, as a running service would."""

    class Metrics(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'meshgrade_setbacks{name="fsdp_step",what="reference"} 2.0\nother 1.0\n')

        def log_message(self, *arguments: object) -> None:
            return

    with http.server.HTTPServer(("127.0.0.1", 0), Metrics) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("MESHGRADE_PORT", str(server.server_address[1]))
        yield str(server.server_address[1])
        server.shutdown()


@pytest.mark.parametrize("isolation", ["bubblewrap", "container"])
@pytest.mark.parametrize(("up", "graded"), [(True, True), (True, False), (False, True)])
def test_walls_and_grading_of_this_isolation_are_tried(monkeypatch, isolation, up, graded):
    proved, tried = [], []

    def probe(isolation: str) -> tuple[WallReport, ...]:
        proved.append(isolation)
        return (WallReport("landlock", up, "held" if up else "the kernel has none", "" if up else "use a newer one"),)

    def grade(settings: Settings) -> Trial:
        tried.append(settings.isolation)
        return Trial(graded, "a right program was failed: why", 1.5)

    monkeypatch.setattr("grader.sandbox.doctor.probe_walls", probe)
    monkeypatch.setattr("app.cli.doctor.try_grading", grade)
    monkeypatch.setenv("MESHGRADE_ISOLATION", isolation)
    done = CliRunner().invoke(app, ["doctor", "--json"])
    assert proved == [isolation]
    assert tried == ([isolation] if up else []), "nothing may be executed behind walls that are down"
    assert done.exit_code == (0 if up and graded else 3)
    told = json.loads(done.output)
    assert told["ready"] is (up and graded)
    assert (told["trial"] or {}).get("graded") == (graded if up else None)
    assert told["setbacks"] == [{"what": "reference", "name": "fsdp_step", "failures": 2}]
    text = CliRunner().invoke(app, ["doctor"]).output
    assert "fsdp_step: failed 2 times in a row" in text
    assert ("a right program was failed: why" in text) is up


def test_the_walls_can_be_proved_alone(monkeypatch):
    report = WallReport("landlock", True, "held", "")
    monkeypatch.setattr("grader.sandbox.doctor.probe_walls", lambda isolation: [report])
    monkeypatch.setattr("app.cli.doctor.try_grading", lambda settings: pytest.fail("it was graded"))
    done = CliRunner().invoke(app, ["doctor", "--walls", "--json"])
    assert done.exit_code == 0
    assert json.loads(done.output)["trial"] is None


def test_without_a_server_nothing_is_told_of_one(monkeypatch):
    monkeypatch.setattr("grader.sandbox.doctor.probe_walls", lambda isolation: [])
    monkeypatch.setattr("app.cli.doctor.try_grading", lambda settings: Trial(True, "", 0.0))
    monkeypatch.setenv("MESHGRADE_PORT", "1")
    assert json.loads(CliRunner().invoke(app, ["doctor", "--json"]).output)["setbacks"] is None


def test_a_machine_without_git_is_ready_and_the_remedy_is_named(monkeypatch):
    monkeypatch.setattr("grader.sandbox.doctor.probe_walls", lambda isolation: [])
    monkeypatch.setattr("app.repositories.git.usable_git", lambda: None)
    done = CliRunner().invoke(app, ["doctor", "--walls"])
    assert done.exit_code == 0
    assert "git 2.37 or later is needed to sync repositories; folders can be synced without it" in done.output
    assert "apt-get install git" in done.output


def test_the_trial_is_accepted():
    trial = try_grading(load_settings())
    assert trial.graded, trial.found
