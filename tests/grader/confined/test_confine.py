"""The calls by which a fork confines itself. tests/grader/sandbox/test_proved_walls.py tests the walls themselves."""

import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from grader.confined import confine, kernel
from grader.confined.confine import Confinement

CHECKOUT = Path(__file__).resolve().parents[3]
UID = 61_007


def confinement(uid: int | None) -> Confinement:
    return Confinement(uid, 64 << 20, (), (), "", tasks=512, open_files=256, shared_tasks=1500)


@pytest.fixture
def called(monkeypatch) -> list[tuple[object, ...]]:
    """Records the calls instead of making them, and refuses the calls that only root may make."""
    calls: list[tuple[object, ...]] = []

    def note(name: str):
        def call(*arguments: object) -> None:
            if arguments == (0, 0, 0) or name == "unshare":
                raise PermissionError(name)
            calls.append((name, *arguments))

        return call

    for name in ("setgroups", "setresgid", "setresuid"):
        monkeypatch.setattr(os, name, note(name))
    for name in ("drop_capabilities", "forbid_new_privileges", "forbid_tracing", "die_with_parent", "unshare"):
        monkeypatch.setattr(kernel, name, note(name))
    monkeypatch.setattr(resource, "setrlimit", note("setrlimit"))
    monkeypatch.setattr(os, "getresuid", lambda: (UID, UID, UID))
    monkeypatch.setattr(os, "getresgid", lambda: (UID, UID, UID))
    return calls


# After the change of user, which would undo the last two; and groups before it, while that is still allowed.
FOR_GOOD = [
    ("drop_capabilities",),
    ("forbid_new_privileges",),
    ("forbid_tracing",),
    ("die_with_parent", signal.SIGKILL),
]


def test_root_is_given_up_with_its_groups_and_then_everything_else(called):
    confine._give_up_privileges(confinement(UID))
    change = [("setgroups", []), ("setresgid", UID, UID, UID), ("setresuid", UID, UID, UID)]
    assert called == [*change, *FOR_GOOD]


def test_without_root_there_is_no_user_to_become(called):
    confine._give_up_privileges(confinement(None))
    assert called == FOR_GOOD


@pytest.mark.parametrize("who", ["getresuid", "getresgid"])
def test_one_that_is_still_root_does_not_go_on(called, monkeypatch, who):
    monkeypatch.setattr(os, who, lambda: (UID, UID, 0))
    with pytest.raises(PermissionError, match="still root"):
        confine._give_up_privileges(confinement(UID))


@pytest.mark.parametrize(
    ("module", "name", "told"),
    [(kernel, "unshare", "make a mount namespace"), (os, "setresuid", "become root"), (os, "setresgid", "join root's")],
)
def test_one_that_could_take_them_back_does_not_go_on(called, monkeypatch, module, name, told):
    monkeypatch.setattr(module, name, lambda *arguments: None)
    with pytest.raises(PermissionError, match=told):
        confine._give_up_privileges(confinement(None))


def test_each_limit_is_set_both_soft_and_hard(called):
    confine._limit(confinement(UID))
    assert {limit: values for _, limit, values in called} == {
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_CPU: (3600, 3600),
        resource.RLIMIT_FSIZE: (64 << 20, 64 << 20),
        resource.RLIMIT_NOFILE: (256, 256),
        resource.RLIMIT_NPROC: (512, 512),
        resource.RLIMIT_MEMLOCK: (0, 0),
        resource.RLIMIT_MSGQUEUE: (0, 0),
    }


@pytest.mark.parametrize(("uid", "may", "tasks"), [(UID, True, 512), (None, True, 512), (None, False, 1500)])
def test_without_root_a_fork_is_counted_alone_if_it_may_have_a_user_namespace(called, monkeypatch, uid, may, tasks):
    entered = []
    if may:
        monkeypatch.setattr(kernel, "unshare", entered.append)
    confine._limit(confinement(uid))
    assert ("setrlimit", resource.RLIMIT_NPROC, (tasks, tasks)) in called
    assert entered == ([kernel.CLONE_NEWUSER] if uid is None and may else [])


# Two processes of one user, which start threads until they have no more, the second while the first still has them.
_TWO_OF_ONE_USER = """
import os, resource, threading
from grader.confined import confine

if os.getuid() == 0:
    os.setresgid(64_999, 64_999, 64_999)
    os.setresuid(64_999, 64_999, 64_999)
for _ in range(2):
    reading, writing = os.pipe()
    if os.fork() == 0:
        assert confine._become_counted_alone()
        resource.setrlimit(resource.RLIMIT_NPROC, (20, 20))
        done = threading.Event()
        try:
            while True:
                threading.Thread(target=done.wait, daemon=True).start()
        except RuntimeError:
            os.write(writing, str(threading.active_count()).encode())
        done.wait(60)
        os._exit(0)
    print(os.read(reading, 9).decode(), flush=True)
"""


def test_the_kernel_counts_the_threads_of_each_user_namespace() -> None:
    command = [sys.executable, "-c", _TWO_OF_ONE_USER]
    done = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True, cwd=CHECKOUT)
    assert done.stdout is not None
    try:
        assert [int(done.stdout.readline()) for _ in range(2)] == [20, 20]
    finally:
        os.killpg(done.pid, signal.SIGKILL)
        done.wait()


@pytest.mark.parametrize(("devices", "threads"), [(1, 0), (8, 0), (64, 0), (65, 4), (256, 768)])
def test_only_meshes_that_no_problem_has_get_further_threads(devices: int, threads: int) -> None:
    assert confine.further_threads(devices) == threads
