"""A probe tests every wall, and a wall that is taken down tests the probe."""

import dataclasses
import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.confined.confine import Confinement
from grader.core.errors import GraderFault, LostRunner, WallMissing
from grader.forks import probe
from grader.sandbox import build, doctor, syscalls
from grader.sandbox.build import build_sandbox
from grader.sandbox.doctor import probe_walls, require_walls
from grader.sandbox.protocol import RunnerSpec
from grader.sandbox.usage import Usage
from grader.sandbox.walls import Isolation, wall_names
from tests.docs.pages import CHECKOUT


def found() -> dict[str, str]:
    """The probe's message about each wall that can be crossed."""
    return {report.name: report.found for report in probe_walls() if not report.up}


def command_without(monkeypatch: pytest.MonkeyPatch, *unwanted: str) -> None:
    original = doctor.command_for
    monkeypatch.setattr(
        doctor, "command_for", lambda isolation: [part for part in original(isolation) if part not in unwanted]
    )


def confine_with(monkeypatch: pytest.MonkeyPatch, change: Callable[[Confinement], Confinement]) -> None:
    original = doctor.confinement_for
    monkeypatch.setattr(doctor, "confinement_for", lambda *args: change(original(*args)))


def drop(monkeypatch: pytest.MonkeyPatch, wall: str) -> None:
    confine_with(monkeypatch, lambda conf: dataclasses.replace(conf, without=(*conf.without, wall)))


def test_every_wall_holds_here():
    reports = probe_walls()
    assert [report.name for report in reports] == wall_names()
    assert [report for report in reports if not report.up] == []


def test_every_wall_has_attempts_to_cross_it_and_a_line_in_the_security_notes():
    targets = {"file": "", "port": 0, "segment": 0, "user": False, "other": 1, "finds": ""}
    assert list(probe.attempts_on(targets)) == wall_names()
    documented = re.findall(r"^\| (\w+) \| .* \| .* \|$", (CHECKOUT / "docs" / "security.md").read_text(), re.MULTILINE)
    assert [name for name in documented if name in wall_names()] == wall_names()


def test_a_shared_network_is_seen(monkeypatch):
    command_without(monkeypatch, "--unshare-net")
    assert "reach a server on the host" in found()["namespaces"]


def test_a_shared_process_tree_is_seen(monkeypatch):
    command_without(monkeypatch, "--unshare-pid")
    assert "see the processes of the host" in found()["namespaces"]


def test_shared_memory_of_the_host_is_seen(monkeypatch):
    command_without(monkeypatch, "--unshare-ipc")
    assert "share memory with processes of the host" in found()["namespaces"]


def test_the_name_of_the_host_is_seen(monkeypatch):
    command_without(monkeypatch, "--unshare-uts", "--hostname", "sandbox")
    assert "see the name of the host" in found()["namespaces"]


def test_the_session_of_the_service_is_seen(monkeypatch):
    command_without(monkeypatch, "--new-session")
    assert "stay in the session of the service" in found()["namespaces"]


def test_a_process_that_can_be_traced_is_seen(monkeypatch, tmp_path):
    # As root, the change of user alone forbids it, so here the fork keeps its user.
    change_inside(
        monkeypatch, tmp_path, "confined/confine.py", "    kernel.forbid_tracing()\n", "    kernel.prctl(4, 1)\n"
    )
    assert "be traced by another process of its user" in found()["namespaces"]


@pytest.fixture
def in_a_group() -> Iterator[None]:
    """The service is in a second group, as a service that root starts may be."""
    if os.geteuid() != 0:
        pytest.skip("only root has groups to give up")
    groups = os.getgroups()
    os.setgroups([*groups, 54_321])
    yield
    os.setgroups(groups)


@pytest.mark.usefixtures("in_a_group")
def test_groups_are_given_up_and_one_that_is_kept_is_seen(monkeypatch, tmp_path):
    assert found() == {}
    change_inside(monkeypatch, tmp_path, "confined/confine.py", "        os.setgroups([])\n", "")
    assert "stay in a group of the service" in found()["namespaces"]


def test_a_host_file_system_inside_is_seen(monkeypatch):
    original = doctor.command_for

    def command(isolation: Isolation) -> list[str]:
        parts = original(isolation)
        at = parts.index("--remount-ro")
        return [*parts[:at], "--perms", "0755", "--dir", "/var", "--ro-bind", "/var/tmp", "/var/tmp", *parts[at:]]

    monkeypatch.setattr(doctor, "command_for", command)
    monkeypatch.setattr(doctor.tempfile, "tempdir", "/var/tmp")
    assert "read a file of the host" in found()["namespaces"]


def test_a_scratch_without_bound_is_seen(monkeypatch):
    confine_with(monkeypatch, lambda conf: dataclasses.replace(conf, scratch_bytes=4 << 30))
    told = found()
    assert "write more than its scratch may hold" in told["namespaces"]


def test_privileges_that_were_not_given_up_are_seen(monkeypatch):
    drop(monkeypatch, "namespaces")
    assert "mount a file system" in found()["namespaces"]


def test_landlock_left_out_is_seen(monkeypatch):
    drop(monkeypatch, "landlock")
    assert "list the root folder" in found()["landlock"]
    assert "make a link in its scratch" in found()["landlock"]


def test_a_call_that_is_let_through_is_seen(monkeypatch):
    monkeypatch.setattr(syscalls, "_ALLOWED", [*syscalls._ALLOWED, "socket", "memfd_create", "fork", "vfork"])
    told = found()["seccomp"]
    assert "open a socket" in told
    assert "keep a file in memory" in told


def test_missing_rlimits_are_seen(monkeypatch):
    drop(monkeypatch, "rlimits")
    told = found()["rlimits"]
    assert "start any number of tasks" in told
    assert "leave a core dump" in told


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        ("CORE", "leave a core dump"),
        ("CPU", "use any amount of CPU time"),
        ("FSIZE", "write a file longer than its scratch"),
        ("NOFILE", "open more files than it may"),
        ("NPROC", "start any number of tasks"),
        ("MEMLOCK", "keep memory from being swapped out"),
        ("MSGQUEUE", "fill message queues"),
    ],
)
def test_each_rlimit_that_is_missing_is_seen(monkeypatch, tmp_path, limit, told):
    """Even if the service itself runs under a limit: the limit is set to its maximum."""
    line = "        resource.setrlimit(limit, (value, value))\n"
    unlimited = (
        f"        if limit == resource.RLIMIT_{limit}:\n            value = resource.getrlimit(limit)[1]\n{line}"
    )
    change_inside(monkeypatch, tmp_path, "confined/confine.py", line, unlimited)
    assert told in found()["rlimits"]


def test_a_watchdog_that_does_not_bite_is_seen(monkeypatch):
    monkeypatch.setattr("grader.sandbox.session.usage_of", lambda pid: Usage(0.0, 0))
    assert "allocate memory until" in found()["memory"]


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


def change_inside(monkeypatch: pytest.MonkeyPatch, folder: Path, module: str, line: str, instead: str) -> None:
    """Run a copy of the inner code, for which the kernel answers differently."""
    if not (folder / "grader").exists():
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(build.__file__).parents[1], folder / "grader", ignore=ignored)
        monkeypatch.setattr("grader.sandbox.bubblewrap._GRADER", folder / "grader")
    path = folder / "grader" / module
    text = path.read_text()
    assert line in text
    path.write_text(text.replace(line, instead))


# Each call claims to have done something that it has not done.
_LIES = {
    "unshare": [
        ("confined/kernel.py", '    _checked("unshare"', '    return\n    _checked("unshare"'),
    ],
    "unshare, once": [
        (
            "confined/kernel.py",
            '    _checked("unshare"',
            '    if not hasattr(unshare, "lied"):\n        unshare.lied = True\n        return\n    _checked("unshare"',
        ),
    ],
    "mount": [("confined/kernel.py", '    _checked("mount"', '    return\n    _checked("mount"')],
    "mount, without a bound": [
        ("confined/kernel.py", 'f"size={size_bytes},nr_inodes={files},mode=1777".encode()', 'b"mode=1777"'),
    ],
    # As root, the change of user would also drop them, so this kernel keeps them then, too.
    "capset": [
        ("confined/confine.py", "    if uid is not None:\n", "    if uid is not None:\n        kernel.prctl(8, 1)\n"),
        ("confined/kernel.py", "(ctypes.c_uint32 * 6)())", "(ctypes.c_uint32 * 6)(1 << 21, 1 << 21))"),
    ],
}


def test_limits_that_are_told_and_not_kept_are_seen(monkeypatch, tmp_path):
    change_inside(
        monkeypatch,
        tmp_path,
        "confined/confine.py",
        "        resource.setrlimit(limit, (value, value))\n",
        "        pass\n",
    )
    change_inside(monkeypatch, tmp_path, "forks/probe.py", "resource.getrlimit(limit)[1]", "most")
    told = found()["rlimits"]
    assert "open more files than it may" in told
    assert "write a file longer than its scratch" in told


@pytest.mark.parametrize("call", _LIES)
def test_a_kernel_that_says_it_did_what_it_did_not_is_seen(monkeypatch, tmp_path, call):
    for module, line, instead in _LIES[call]:
        change_inside(monkeypatch, tmp_path, module, line, instead)
    assert "namespaces" in found()


@pytest.mark.parametrize(("wall", "remedy"), [("landlock", "lsm="), ("seccomp", "CONFIG_SECCOMP_FILTER")])
def test_a_kernel_without_a_wall_is_explained(monkeypatch, tmp_path, wall, remedy):
    module, line, instead = {
        "landlock": ("confined/landlock.py", "    version = abi()", "    version = 0"),
        "seccomp": (
            "confined/kernel.py",
            "    prctl(_PR_SET_SECCOMP,",
            "    raise OSError(22, 'absent')\n    prctl(_PR_SET_SECCOMP,",
        ),
    }[wall]
    change_inside(monkeypatch, tmp_path, module, line, instead)
    report = next(report for report in probe_walls() if report.name == wall)
    assert not report.up
    assert remedy in report.remedy


@pytest.mark.parametrize(
    ("fault", "what", "remedy"),
    [
        (LostRunner("it was killed from outside"), "probably because memory ran out", "more memory: at least 1 GiB"),
        (GraderFault("no users are left.\nTo fix it: stop some of them"), "no users are left.", "stop some of them"),
        (GraderFault("it ended"), "it ended", "no remedy is known for this"),
    ],
)
def test_a_probe_that_could_not_run_is_explained(monkeypatch, fault, what, remedy):
    def fail(*arguments: object) -> dict[str, list[str]]:
        raise fault

    monkeypatch.setattr(doctor, "_probe", fail)
    for report in probe_walls():
        assert not report.up
        assert what in report.found
        assert "To fix it" not in report.found
        assert remedy in report.remedy


def test_a_missing_wall_refuses_to_open_a_session(monkeypatch, tmp_path, add_one):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with build_sandbox(tmp_path) as sandbox, pytest.raises(WallMissing, match="bubblewrap"):
        sandbox.open(RunnerSpec(1, add_one.manifest.limits))


def test_a_sandbox_does_not_claim_the_walls_that_it_lacks(tmp_path):
    with build_sandbox(tmp_path, without=frozenset({"seccomp"})) as sandbox:
        assert sandbox.walls == ("namespaces", "landlock", "rlimits", "memory")
    with build_sandbox(tmp_path, isolation="container") as sandbox:
        assert sandbox.walls == ("landlock", "seccomp", "rlimits", "memory")
