"""Which tests failed is written down, and only these run again."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import failures
from tests.failures import MOST_UNSTABLE, name_of, read_failures, unstable_before, unstable_faults

PLUGINS = ("-p", "no:cacheprovider", "-p", "no:randomly", "-p", "tests.failures")
SOURCE = """
    import pytest

    @pytest.fixture
    def broken():
        yield
        raise OSError("torn down")

    def test_passes(): ...
    def test_fails(): assert 1 == 2
    def test_ends_badly(broken): ...
    @pytest.mark.xdist_group("one group")
    @pytest.mark.parametrize("address", ["a@b", "c"])
    def test_of_a_group(address): assert address == "c"
"""


def _found(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, *options: str) -> dict[str, str]:
    file = pytester.path / "failures.json"
    monkeypatch.setenv(failures.WRITE_TO, str(file))
    pytester.makeini("[pytest]\nmarkers = xdist_group: a group")
    pytester.makepyfile(test_it=SOURCE)
    pytester.runpytest_subprocess(*PLUGINS, *options)
    found = read_failures(file)
    assert found["complete"]
    assert found["not_collected"] == []
    failed: dict[str, str] = found["failures"]
    return failed


@pytest.mark.parametrize("options", [(), ("-n", "1", "--dist", "loadgroup")], ids=["in one process", "in two"])
def test_a_run_writes_what_failed_and_another_runs_only_that(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[1]))
    found = _found(pytester, monkeypatch, *options)
    names = {"test_it.py::test_fails", "test_it.py::test_ends_badly", "test_it.py::test_of_a_group[a@b]"}
    assert set(map(name_of, found)) == names
    assert "assert 1 == 2" in found["test_it.py::test_fails"]
    assert "teardown:" in found["test_it.py::test_ends_badly"]
    assert "torn down" in found["test_it.py::test_ends_badly"]

    monkeypatch.delenv(failures.WRITE_TO)
    only = pytester.path / "only.json"
    only.write_text(json.dumps({"failures": [*found]}), encoding="utf-8")
    monkeypatch.setenv(failures.ONLY, str(only))
    ran = pytester.runpytest_subprocess(*PLUGINS)
    ran.assert_outcomes(passed=1, failed=2, errors=1, deselected=2)


def test_a_file_that_cannot_be_collected_is_written_down(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = pytester.path / "failures.json"
    monkeypatch.setenv(failures.WRITE_TO, str(file))
    pytester.makepyfile("import nothing_of_this_name")
    pytester.runpytest_inprocess(*PLUGINS)
    [told] = read_failures(file)["not_collected"]
    assert "nothing_of_this_name" in told


def test_a_run_that_ended_before_it_could_write_is_not_complete(tmp_path: Path) -> None:
    assert read_failures(tmp_path / "missing.json") == {"failures": {}, "not_collected": [], "complete": False}


@pytest.mark.parametrize(
    ("test", "name"),
    [
        ("tests/a.py::test_b", "tests/a.py::test_b"),
        ("tests/a.py::test_b@tests/a.py", "tests/a.py::test_b"),
        ("tests/a.py::test_b[c@d]", "tests/a.py::test_b[c@d]"),
        ("tests/a.py::test_b[c@d]@browser 1", "tests/a.py::test_b[c@d]"),
    ],
)
def test_the_name_of_a_test_does_not_have_its_group(test: str, name: str) -> None:
    assert name_of(test) == name


def test_all_attacks_of_a_batch_run_again_because_harm_shows_after_the_last() -> None:
    def item(file: str, name: str, group: str) -> SimpleNamespace:
        mark = SimpleNamespace(args=(group,))
        return SimpleNamespace(nodeid=f"tests/{file}::{name}", get_closest_marker=lambda _: mark)

    wanted = {"tests/hostile/test_hostile.py::test_an_attack[last]@attacks 3", "tests/docs/test_a.py::test_a@docs"}
    assert failures._is_wanted(item("hostile/test_hostile.py", "test_an_attack[first]", "attacks 3"), wanted)
    assert not failures._is_wanted(item("hostile/test_hostile.py", "test_an_attack[first]", "attacks 4"), wanted)
    plain = {"tests/hostile/test_plain_user.py::test_they_leave_nothing@plain"}
    assert failures._is_wanted(item("hostile/test_plain_user.py", "test_an_attack[first]", "plain"), plain)
    assert failures._is_wanted(item("docs/test_a.py", "test_a", "docs"), wanted)
    assert not failures._is_wanted(item("docs/test_a.py", "test_b", "docs"), wanted)


def test_a_few_unstable_tests_do_not_fail_a_run_but_more_or_the_same_again_do() -> None:
    few = [f"tests/a.py::test_{number}" for number in range(MOST_UNSTABLE)]
    assert unstable_faults(few, before=[]) == []
    [told] = unstable_faults([*few, "tests/a.py::test_more"], before=[])
    assert told.startswith("4 tests failed at first and passed alone, which is more than 3.")
    [told] = unstable_faults(["tests/a.py::test_0"], before=["tests/a.py::test_0", "tests/b.py::test_b"])
    assert told.startswith("tests/a.py::test_0 was unstable in one of the last 3 merges, too (tests/unstable.toml).")


def test_only_the_last_merges_count(tmp_path: Path) -> None:
    file = tmp_path / "unstable.toml"
    file.write_text("".join(f'[[merge]]\nbase = "{number}"\ntests = ["test_{number}"]\n' for number in range(4)))
    assert unstable_before(file) == {"test_1", "test_2", "test_3"}
    assert unstable_before() is not None
