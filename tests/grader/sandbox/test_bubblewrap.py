"""The exact arguments of bubblewrap: a wall that is not requested does not exist."""

import os

import pytest

from grader.sandbox.bubblewrap import SOLE_UID, bubblewrap_command

NAMESPACES = [
    "--unshare-pid",
    "--unshare-net",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--new-session",
    "--die-with-parent",
    *("--hostname", "sandbox"),
    *("--cap-drop", "ALL"),
]
AS_ROOT = ["--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
AS_USER = ["--unshare-user", "--uid", str(SOLE_UID), "--gid", str(SOLE_UID), "--cap-add", "CAP_SYS_ADMIN"]


@pytest.fixture
def bwrap(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")


@pytest.mark.usefixtures("bwrap")
@pytest.mark.parametrize(("user", "identity"), [(0, AS_ROOT), (1000, AS_USER)], ids=["root", "user"])
def test_every_namespace_and_no_capability_but_those_that_are_given_up_again(monkeypatch, user, identity):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    command = bubblewrap_command()
    assert command[: command.index("--clearenv") + 1] == ["/usr/bin/bwrap", *NAMESPACES, *identity, "--clearenv"]
    # No later argument undoes it.
    later = command[command.index("--clearenv") :]
    assert not [part for part in later if part.startswith(("--cap", "--share", "--unshare", "--bind", "--dev-bind"))]


@pytest.mark.usefixtures("bwrap")
def test_nothing_inside_can_be_written_but_what_is_mounted_over():
    command = bubblewrap_command()
    options = [part for part in command if part.startswith("--")]
    assert {"--bind", "--tmpfs", "--proc", "--dev-bind", "--share-net"} & set(options) == set()
    assert command[-6:] == ["--dir", "/tmp", "--remount-ro", "/", "--chdir", "/"]
    assert command[command.index("--dev") :][:4] == ["--dev", "/dev", "--remount-ro", "/dev"]
