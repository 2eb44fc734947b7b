"""The sandbox finds the service's own interpreter, wherever it is installed."""

import subprocess
import sys
from pathlib import Path

import pytest

from grader.sandbox import bubblewrap
from grader.sandbox.doctor import probe_walls
from grader.sandbox.remedies import ALLOW_USER_NAMESPACES, READABLE_PYTHON
from grader.sandbox.walls import remedy_for


def test_a_systems_own_python_is_bound_under_each_of_its_names(tmp_path, monkeypatch):
    usr = tmp_path / "usr"
    usr.mkdir()
    (usr / "python3.11").touch()
    (usr / "python3").symlink_to("python3.11")
    venv = tmp_path / "venv" / "bin"
    venv.mkdir(parents=True)
    (venv / "python3").symlink_to(usr / "python3")
    (venv / "python").symlink_to("python3")
    monkeypatch.setattr(sys, "executable", str(venv / "python"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    binds = dict(reversed(pair) for pair in bubblewrap._python_binds())
    assert binds[str(usr / "python3")] == binds[str(usr / "python3.11")] == str(usr / "python3.11")


def test_a_copied_interpreter_is_replaced_by_a_link_to_what_was_copied(tmp_path, monkeypatch):
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    monkeypatch.setattr(sys, "base_prefix", "/usr")
    command = bubblewrap.bubblewrap_command()
    at = command.index("/opt/meshgrade/venv/bin/python", command.index("--symlink"))
    systems = "/usr/bin/python{}.{}".format(*sys.version_info)
    assert command[at - 2 : at] == ["--symlink", systems]
    assert systems in dict(reversed(pair) for pair in bubblewrap._python_binds())


def test_no_setting_of_the_virtual_environment_is_read_inside():
    # `python -m venv` keeps its whole command there, and so the folder of the checkout.
    inside = "/opt/meshgrade/venv/pyvenv.cfg"
    outside = {inside: outside for outside, inside in bubblewrap._python_binds()}[inside]
    assert Path(outside).read_text(encoding="utf-8") == "include-system-site-packages = false\n"


def test_the_host_folder_of_the_checkout_is_not_named_inside():
    command = bubblewrap.bubblewrap_command()
    binds = [(command[at + 1], command[at + 2]) for at, part in enumerate(command) if part == "--ro-bind"]
    checkout = str(Path(bubblewrap.__file__).parents[2])
    assert any(outside.startswith(checkout) for outside, _ in binds)
    assert not [inside for _, inside in binds if checkout in inside]
    assert not [
        target
        for at, part in enumerate(command)
        if part == "--symlink"
        for target in command[at + 1 : at + 3]
        if checkout in target
    ]
    ours = [outside for outside, _ in binds if outside.startswith((checkout, sys.prefix))]
    # Compiled files name it too. The wrapper keeps those of the packages elsewhere; ours are not bound.
    grep = ["grep", "-rlF", "--exclude-dir=__pycache__", checkout, *ours]
    assert subprocess.run(grep, capture_output=True, text=True, check=False).stdout == ""
    assert not [outside for outside in ours if "__pycache__" in outside]


def test_in_a_container_every_wall_but_the_namespaces_holds():
    reports = probe_walls("container")
    assert [report.name for report in reports] == ["landlock", "seccomp", "rlimits", "memory"]
    missing = {report.remedy for report in reports if not report.up}
    # Without namespaces a runner that has given up root sees the host's own permissions, and may be unable to reach an
    # interpreter that only root can read. The error must say so.
    assert missing in (set(), {READABLE_PYTHON})


def test_an_unreadable_interpreter_is_explained():
    assert remedy_for("landlock: [Errno 13] Permission denied: '/root/python'") == READABLE_PYTHON


@pytest.mark.parametrize(
    "said",
    [
        "bwrap: No permissions to create a new namespace",
        "bwrap: unshare user ns: No space left on device",
        "bwrap: setting up uid map: Operation not permitted",
    ],
)
def test_a_machine_that_permits_no_user_namespaces_is_explained(said):
    assert remedy_for(said) == ALLOW_USER_NAMESPACES
