"""Every wall is proved by a probe, and the probe is proved by taking the wall down."""

import os
import shutil
from collections.abc import Callable

import pytest

from grader.errors import WallMissing
from grader.sandbox import bubblewrap
from grader.sandbox.bubblewrap import WALLS
from grader.sandbox.doctor import probe_walls, require_walls
from grader.sandbox.usage import Usage


def found() -> dict[str, str]:
    """What the probe says of each wall that does not hold."""
    return {report.name: report.found for report in probe_walls() if not report.up}


def test_every_wall_holds_here():
    reports = probe_walls()
    assert [report.name for report in reports] == list(WALLS)
    assert [report for report in reports if not report.up] == []


def without(*unwanted: str) -> Callable[[int], list[str]]:
    original = bubblewrap.sandbox_command

    def command(devices: int) -> list[str]:
        return [part for part in original(devices) if part not in unwanted]

    return command


def test_a_shared_network_is_seen(monkeypatch):
    monkeypatch.setattr(bubblewrap, "sandbox_command", without("--unshare-net"))
    assert "reach a server on the host" in found()["namespaces"]


def test_a_shared_process_tree_is_seen(monkeypatch):
    monkeypatch.setattr(bubblewrap, "sandbox_command", without("--unshare-pid"))
    assert "see the processes of the host" in found()["namespaces"]


def test_a_writable_root_is_seen(monkeypatch):
    original = bubblewrap.sandbox_command

    def command(devices: int) -> list[str]:
        parts = original(devices)
        at = len(parts) - parts[::-1].index("--remount-ro") - 1
        return [*parts[:at], "--chmod", "0777", "/", *parts[at + 2 :]]

    monkeypatch.setattr(bubblewrap, "sandbox_command", command)
    assert "write to its root folder" in found()["namespaces"]


def test_a_host_file_system_inside_is_seen(monkeypatch):
    monkeypatch.setattr(
        bubblewrap,
        "sandbox_command",
        lambda devices, original=bubblewrap.sandbox_command: [*original(devices), "--ro-bind", "/tmp", "/tmp"],
    )
    assert "read a file of the host" in found()["namespaces"]


def test_missing_limits_are_seen(monkeypatch, tmp_path):
    # The walls cannot be half built from outside, so the runner's room is a copy whose rlimits were taken out.
    room = tmp_path / "runner"
    shutil.copytree(bubblewrap._RUNNER, room)
    (tmp_path / "__init__.py").touch()
    confine = room / "confine.py"
    confine.write_text(confine.read_text().replace("resource.setrlimit(limit, (value, value))", "pass"))
    monkeypatch.setattr(bubblewrap, "_RUNNER", room)
    assert "allocate past the limit on data" in found()["rlimits"]
    assert "leave a core dump" in found()["rlimits"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has root to give up; another user never had it")
def test_root_that_was_not_given_up_is_seen(monkeypatch, tmp_path):
    room = tmp_path / "runner"
    shutil.copytree(bubblewrap._RUNNER, room)
    (tmp_path / "__init__.py").touch()
    confine = room / "confine.py"
    text = confine.read_text()
    confine.write_text(text[: text.index("    if confinement.uid is not None:")])
    monkeypatch.setattr(bubblewrap, "_RUNNER", room)
    assert "become root" in found()["namespaces"]


def test_a_watchdog_that_does_not_bite_is_seen(monkeypatch):
    monkeypatch.setattr("grader.sandbox.session.usage_of_tree", lambda pid: Usage(0.0, 0))
    assert "take memory until" in found()["memory"]


def test_without_bubblewrap_no_wall_is_up_and_the_command_to_install_it_is_told(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    reports = probe_walls()
    assert not any(report.up for report in reports)
    assert "apt-get install bubblewrap" in reports[0].remedy
    with pytest.raises(WallMissing, match=r"namespaces.*bubblewrap"):
        require_walls()


def test_a_bubblewrap_that_may_not_make_namespaces_is_explained(monkeypatch, tmp_path):
    refusing = tmp_path / "bwrap"
    refusing.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda name: str(refusing))
    report = probe_walls()[0]
    assert not report.up
    assert "No permissions to create new namespace" in report.found
    assert "sysctl" in report.remedy
