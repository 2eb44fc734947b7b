"""Groups of a delegated cgroup v2, on a stand-in for its file system: plain files instead of the kernel's."""

import os
from pathlib import Path

import pytest

from grader.sandbox.cgroup import Cgroups, task_limit


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own"
    path.write_text("12:memory:/elsewhere\n0::/system.slice/meshgrade.service\n")
    return path


@pytest.fixture
def parent(tmp_path: Path) -> Path:
    folder = tmp_path / "mount" / "system.slice" / "meshgrade.service"
    folder.mkdir(parents=True)
    (folder / "cgroup.controllers").write_text("cpu memory pids")
    (folder / "cgroup.subtree_control").write_text("")
    (folder / "cgroup.procs").write_text(f"{os.getpid()}\n")
    return folder


def delegated(tmp_path: Path, own: Path) -> Cgroups | None:
    return Cgroups.delegated(tmp_path / "mount", own)


def test_a_delegated_group_is_divided(tmp_path, own, parent):
    assert delegated(tmp_path, own) is not None
    assert (parent / "service" / "cgroup.procs").read_text() == str(os.getpid())
    assert (parent / "cgroup.subtree_control").read_text() == "+cpu +memory +pids"


def test_a_group_is_divided_without_shares_of_the_cpu(tmp_path, own, parent):
    (parent / "cgroup.controllers").write_text("memory pids")
    assert delegated(tmp_path, own) is not None
    assert (parent / "cgroup.subtree_control").read_text() == "+memory +pids"


@pytest.mark.parametrize("controllers", ["cpu", "cpu memory", ""])
def test_one_without_the_controllers_is_left_alone(tmp_path, own, parent, controllers):
    (parent / "cgroup.controllers").write_text(controllers)
    assert delegated(tmp_path, own) is None
    assert not (parent / "service").exists()


def test_one_with_other_peoples_processes_is_left_alone(tmp_path, own, parent):
    (parent / "cgroup.procs").write_text(f"{os.getpid()}\n1\n")
    assert delegated(tmp_path, own) is None


def test_the_root_group_is_left_alone(tmp_path, own, parent):
    own.write_text("0::/\n")
    (tmp_path / "mount" / "cgroup.subtree_control").write_text("")
    assert delegated(tmp_path, own) is None


def test_a_fork_gets_a_group_with_its_limits(tmp_path, own, parent):
    cgroups = delegated(tmp_path, own)
    assert cgroups is not None
    folder = parent / "fork-4711"
    folder.mkdir()
    # The kernel makes the files of a group with it.
    for name in ("memory.swap.max", "cpu.weight"):
        (folder / name).touch()
    group = cgroups.enclose(4711, 1 << 30, 512)
    assert group.folder == folder
    written = {path.name: path.read_text() for path in group.folder.iterdir()}
    assert written["memory.max"] == str(1 << 30)
    assert written["pids.max"] == "512"
    assert written["cgroup.procs"] == "4711"
    assert written["memory.swap.max"] == "0"
    assert int(written["cpu.weight"]) < 100


def test_a_file_that_the_kernel_lacks_is_not_made(tmp_path, own, parent):
    cgroups = delegated(tmp_path, own)
    assert cgroups is not None
    group = cgroups.enclose(4711, 1 << 30, 512)
    assert {path.name for path in group.folder.iterdir()} == {"memory.max", "pids.max", "cgroup.procs"}


def test_an_end_for_memory_is_told_from_other_ends(tmp_path, own, parent):
    cgroups = delegated(tmp_path, own)
    assert cgroups is not None
    group = cgroups.enclose(4711, 1 << 30, 512)
    assert not group.ran_out_of_memory
    (group.folder / "memory.events").write_text("low 0\noom 1\noom_kill 0\n")
    assert not group.ran_out_of_memory
    (group.folder / "memory.events").write_text("low 0\noom 1\noom_kill 1\n")
    assert group.ran_out_of_memory


def test_the_limit_on_tasks_is_the_lowest_of_all_groups_above(tmp_path, own, parent):
    assert task_limit(tmp_path / "mount", own) is None
    (parent / "pids.max").write_text("max\n")
    assert task_limit(tmp_path / "mount", own) is None
    (parent.parent / "pids.max").write_text("2000\n")
    (tmp_path / "mount" / "pids.max").write_text("9000\n")
    assert task_limit(tmp_path / "mount", own) == 2000
    # A container sees its own group as the root.
    own.write_text("0::/\n")
    assert task_limit(tmp_path / "mount", own) == 9000
