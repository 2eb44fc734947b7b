"""The systemd units: their commands and settings exist, and the sandbox works inside them."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.core.settings import Settings
from app.entry.cli.__main__ import COMMANDS, app
from grader.sandbox.task_limits import needed_tasks

CHECKOUT = Path(__file__).resolve().parents[2]
FOLDER = CHECKOUT / "deploy" / "systemd"
UNITS = {path.name: path.read_text() for path in sorted(FOLDER.iterdir())}
GRADING = ("meshgrade.service", "meshgrade-worker.service")
SERVICES = (*GRADING, "meshgrade-backup.service")
# Each keeps bubblewrap from making namespaces and mounts, or the service from its own cgroup.
IN_THE_WAY = {
    *("RestrictNamespaces", "ProtectControlGroups", "ProtectKernelTunables", "ProtectKernelLogs", "ProtectProc"),
    *("SystemCallFilter", "MemoryDenyWriteExecute", "PrivateUsers", "DelegateSubgroup", "ProcSubset"),
}


def values(unit: str, key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", UNITS[unit], re.MULTILINE)


@pytest.mark.parametrize("unit", SERVICES)
def test_its_command_exists_with_these_options(unit):
    [line] = values(unit, "ExecStart")
    python, dash_m, module, command, *arguments = shlex.split(line)
    assert (python, dash_m, module) == ("/opt/meshgrade/.venv/bin/python", "-m", "app.entry.cli")
    assert command in COMMANDS
    options = {each for each in arguments if each.startswith("--")}
    told = CliRunner().invoke(app, [command, "--help"], env={"TERM": "dumb", "COLUMNS": "200"}).output
    assert {each for each in options if each not in told} == set()
    assert values(unit, "WorkingDirectory") == ["/opt/meshgrade"]


@pytest.mark.parametrize("unit", SERVICES)
def test_its_settings_exist_and_none_is_a_secret(unit):
    for line in values(unit, "Environment"):
        for each in line.split():
            name, _, _ = each.partition("=")
            assert name.removeprefix("MESHGRADE_").lower() in Settings.model_fields
            assert not re.search("TOKEN|SECRET|URL", name)
    [file] = values(unit, "EnvironmentFile")
    assert file.removeprefix("-") == "/etc/meshgrade/environment"


@pytest.mark.parametrize("unit", SERVICES)
def test_it_is_not_root_and_cannot_become_root(unit):
    assert values(unit, "User") == ["meshgrade"]
    assert values(unit, "NoNewPrivileges") == ["yes"]
    assert values(unit, "CapabilityBoundingSet") == [""]
    assert values(unit, "UMask") == ["0077"]


@pytest.mark.parametrize("unit", GRADING)
def test_the_sandbox_has_what_it_needs(unit):
    [controllers] = values(unit, "Delegate")
    assert {"memory", "pids"} <= set(controllers.split())
    keys = {line.partition("=")[0] for line in UNITS[unit].splitlines() if "=" in line and not line.startswith("#")}
    assert keys & IN_THE_WAY == set()
    # All forks of a machine with 32 cores.
    slots = 32
    waiting = 1 + slots + 1 + 24 + slots + slots
    assert int(values(unit, "TasksMax")[0]) >= needed_tasks(slots, waiting)


def test_a_worker_has_the_time_to_drain():
    [drain] = re.findall(r"MESHGRADE_DRAIN_S=(\d+)", UNITS["meshgrade-worker.service"])
    [stop] = values("meshgrade-worker.service", "TimeoutStopSec")
    assert int(stop) >= int(drain) + 5


def test_the_timer_starts_the_backup_of_the_folder_that_it_may_write():
    assert values("meshgrade-backup.timer", "Persistent") == ["yes"]
    # A timer without `Unit` starts the service of its name.
    assert "meshgrade-backup.service" in UNITS
    [command] = values("meshgrade-backup.service", "ExecStart")
    [writable] = values("meshgrade-backup.service", "ReadWritePaths")
    assert shlex.split(command)[4] in writable.split()
    assert values("meshgrade-backup.service", "Environment")[0] in values("meshgrade.service", "Environment")[0]
