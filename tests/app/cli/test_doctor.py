"""`doctor` proves the walls that the service would grade behind, and its exit status says whether they stand."""

import json

import pytest
from typer.testing import CliRunner

from app.cli.__main__ import app
from grader.sandbox.doctor import WallReport


@pytest.mark.parametrize("isolation", ["bubblewrap", "container"])
@pytest.mark.parametrize("up", [True, False])
def test_the_walls_of_this_isolation_are_proved(monkeypatch, isolation, up):
    proved = []

    def probe(isolation: str) -> tuple[WallReport, ...]:
        proved.append(isolation)
        return (WallReport("landlock", up, "held" if up else "the kernel has none", "" if up else "use a newer one"),)

    monkeypatch.setattr("grader.sandbox.doctor.probe_walls", probe)
    monkeypatch.setenv("MESHGRADE_ISOLATION", isolation)
    done = CliRunner().invoke(app, ["doctor", "--json"])
    assert proved == [isolation]
    assert done.exit_code == (0 if up else 3)
    assert json.loads(done.output)["ready"] is up
