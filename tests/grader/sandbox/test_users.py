"""No two forks on a machine have the same user, in one process or in several."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.core.errors import GraderFault, LostRunner
from grader.package.package import Limits
from grader.sandbox import users
from grader.sandbox.protocol import RunnerSpec
from grader.sandbox.users import Users, others_with

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="without root there is only one user to be")
_HOLD = "import sys; from pathlib import Path; from grader.sandbox.users import Users; u = Users(Path(sys.argv[1]));"


def test_users_in_use_differ(tmp_path: Path) -> None:
    first, second = Users(tmp_path), Users(tmp_path)
    taken = [each.take() for each in (first, second) for _ in range(40)]
    assert len(set(taken)) == 80
    assert min(taken) >= 61_000
    assert max(taken) < 65_536


def test_the_user_that_rested_longest_comes_next(tmp_path: Path) -> None:
    some = Users(tmp_path)
    taken = [some.take() for _ in range(16)]
    some.give_back(taken[3])
    some.give_back(taken[1])
    assert [some.take(), some.take()] == [taken[3], taken[1]]


def test_another_process_has_other_users_until_it_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", f"{_HOLD} print(u.take(), flush=True); sys.stdin.read()", str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        theirs = int(other.stdout.readline())
        ours = Users(tmp_path).take()
        assert ours != theirs
        other.kill()
        other.wait()
    assert Users(tmp_path).take() == theirs


def test_when_every_range_is_held_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(users, "_RANGES", 2)
    some = Users(tmp_path)
    for _ in range(32):
        some.take()
    with pytest.raises(GraderFault, match="hold all 2 ranges"):
        some.take()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(GraderFault, match="file/locks"):
        Users(tmp_path / "file" / "locks").take()


def test_processes_of_a_user_are_found_by_who_they_are() -> None:
    assert os.getpid() in others_with(os.getuid(), pid=1)
    assert os.getpid() not in others_with(os.getuid(), pid=os.getpid())


@needs_root
def test_a_runner_that_dies_beside_another_process_of_its_user_is_no_fault_of_the_submission(sandbox) -> None:
    """The limit on threads counts per user, so a stranger with the same number can spend it."""
    with sandbox.open(RunnerSpec(1, Limits())) as session:
        uid = session._fork.uid
        stranger = subprocess.Popen(["sleep", "60"], user=uid, group=uid)
        try:
            session.request({"op": "load", "source": "import os\ndef f(): os._exit(70)", "entry": "f"})
            with pytest.raises(LostRunner, match=f"user {uid}"):
                session.request({"op": "call"}, {"args": []})
        finally:
            stranger.kill()
            stranger.wait()
