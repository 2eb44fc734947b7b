"""Which tests and which submissions belong to a part of a run."""

import os
import subprocess
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from tests import legs, parts

PLUGINS = ("-p", "no:cacheprovider", "-p", "no:randomly", "-p", "tests.parts")


def test_the_parts_hold_every_submission_once():
    names = [f"submission-{number}" for number in range(21)]
    found = [parts.part_of(names, f"{number}/8") for number in range(1, 9)]
    assert sorted(name for part in found for name in part) == sorted(names)
    assert {len(part) for part in found} == {2, 3}
    assert parts.part_of(names, parts.EVERY) == names


def test_what_changed_is_in_every_part():
    names = [f"lesson{number}" for number in range(16)]

    def chosen(*paths: str) -> list[str]:
        shared = ("uv.lock", "tests/lessons/")
        return parts._chosen(names, lambda name: (f"lessons/{name}/",), shared, "3/8", frozenset(paths))

    assert chosen() == ["lesson2", "lesson10"]
    assert chosen("lessons/lesson1/lesson.md", "README.md") == ["lesson1", "lesson2", "lesson10"]
    assert chosen("lessons/lesson2/claims.py", "lessons/order.toml") == ["lesson2", "lesson10"]
    assert chosen("tests/lessons/measure.py") == names


@pytest.mark.parametrize(("part", "passed"), [("3/8", 2), ("4/8", 1), ("all", 2)])
def test_a_marked_test_runs_in_its_part_and_with_all(pytester, monkeypatch, part, passed):
    monkeypatch.setattr(parts, "PART", part)
    monkeypatch.setattr(parts, "changed_last", frozenset)
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.part(3)
        def test_of_a_part(): ...
        def test_of_every_part(): ...
        """
    )
    pytester.runpytest_inprocess(*PLUGINS).assert_outcomes(passed=passed, deselected=2 - passed)


@pytest.mark.parametrize(("path", "passed"), [("app/entry/main.py", 2), ("apps.md", 0), ("README.md", 1)])
def test_a_marked_test_runs_where_its_files_changed(pytester, monkeypatch, path, passed):
    monkeypatch.setattr(parts, "PART", "1/8")
    monkeypatch.setattr(parts, "changed_last", lambda: frozenset({path}))
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.part(3, "app/", "README.md")
        def test_of_the_service(): ...
        @pytest.mark.part(3, "app/entry/main.py")
        def test_of_one_file(): ...
        """
    )
    pytester.runpytest_inprocess(*PLUGINS).assert_outcomes(passed=passed, deselected=2 - passed)


@pytest.mark.parametrize(
    ("part", "path", "ran"),
    [
        ("1/8", "README.md", 3),
        ("2/8", "README.md", 3),
        ("all", "README.md", 6),
        ("1/8", "app/core/database.py", 6),
    ],
)
def test_a_test_on_both_databases_runs_on_one_in_turn(pytester, monkeypatch, part, path, ran):
    monkeypatch.setenv("MESHGRADE_TEST_PART", part)
    monkeypatch.setattr(parts, "PART", part)
    monkeypatch.setattr(parts, "_TESTS", pytester.path)
    monkeypatch.setattr(parts, "base", lambda: "abc123")
    monkeypatch.setattr(parts, "changed", lambda: frozenset({path}))
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture(params=["sqlite", "postgresql"])
        def migrated_url(request): ...
        def test_one(migrated_url): ...
        @pytest.mark.parametrize("number", [1, 2])
        def test_two(migrated_url, number): ...
        """
    )
    pytester.runpytest_inprocess(*PLUGINS).assert_outcomes(passed=ran, deselected=6 - ran)


def test_two_parts_in_a_row_use_both_databases(monkeypatch):
    monkeypatch.setenv("MESHGRADE_TEST_PART", "1/8")
    monkeypatch.setattr(parts, "base", lambda: "abc123")
    monkeypatch.setattr(parts, "changed", frozenset)

    def databases(part: str) -> list[str]:
        def item(name: str) -> SimpleNamespace:
            callspec = SimpleNamespace(params={parts.DATABASE: name})
            return SimpleNamespace(path=parts._TESTS / "app" / "x.py", nodeid=f"x.py::test[{name}]", callspec=callspec)

        return [each for each in ("sqlite", "postgresql") if parts._has_its_database(item(each), part)]

    assert sorted(databases("4/8") + databases("5/8")) == ["postgresql", "sqlite"]


def test_each_day_has_another_part_and_eight_days_have_all():
    days = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number) for number in range(8)]
    assert sorted(map(parts.part_of_day, days)) == [1, 2, 3, 4, 5, 6, 7, 8]


def test_one_commit_has_one_part(monkeypatch):
    monkeypatch.setattr(parts, "_git", lambda *command: "ff")
    assert parts.part_of_commit() == 0xFF % 8 + 1


@pytest.mark.parametrize(
    ("paths", "part", "every", "ran"),
    [
        (["app/entry/main.py", "README.md"], 8, False, []),
        (["grader/judging/judge.py"], 8, False, ["next-jax", "tpu", "gpu"]),
        (["problems/dp_step/cases.py"], 8, False, ["next-jax", "tpu", "gpu"]),
        (["next-jax.txt"], 8, False, ["next-jax"]),
        (["tests/tpu/full_size.json"], 8, False, ["tpu"]),
        ([], 1, False, ["next-jax"]),
        (["gpu-compiler.txt"], 8, False, ["gpu"]),
        ([], 2, False, ["tpu"]),
        ([], 3, False, ["gpu"]),
        ([], 8, True, ["next-jax", "tpu", "gpu"]),
    ],
)
def test_a_leg_runs_if_what_it_depends_on_changed(monkeypatch, capsys, paths, part, every, ran):
    monkeypatch.setattr(legs, "changed", lambda: frozenset(paths))
    monkeypatch.setattr(legs, "part_of_commit", lambda: part)
    monkeypatch.setattr(legs, "base", lambda: "abc123")
    assert legs.to_run(every) == ran
    reasons = capsys.readouterr().err.splitlines()
    assert len(reasons) == 3 - len(ran)
    assert all("has changed since abc123" in reason for reason in reasons)


@pytest.fixture
def history(monkeypatch, tmp_path):
    """Makes a commit of a file that many hours after the first commit. `parts` looks at this history."""
    monkeypatch.delenv("MESHGRADE_TEST_BASE", raising=False)
    monkeypatch.setattr(parts, "_CHECKOUT", tmp_path)
    for each in (parts.base, parts.changed, parts.changed_last):
        monkeypatch.setattr(parts, each.__name__, each.__wrapped__)

    def git(*command: str, **environment: str) -> None:
        names = ("-c", "user.name=Tests", "-c", "user.email=tests@example.org")
        subprocess.run(
            ["git", *names, *command], cwd=tmp_path, check=True, capture_output=True, env=os.environ | environment
        )

    def commit(name: str, hours: int) -> None:
        moment = (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(hours=hours)).isoformat()
        (tmp_path / name).write_text(name)
        git("add", name)
        git("commit", "--message", name, GIT_COMMITTER_DATE=moment, GIT_AUTHOR_DATE=moment)

    git("init")
    return commit


def test_a_download_without_history_does_all_that_is_quick(monkeypatch, tmp_path):
    monkeypatch.setattr(parts, "_CHECKOUT", tmp_path)
    for each in (parts.base, parts.changed, parts.changed_last):
        monkeypatch.setattr(parts, each.__name__, each.__wrapped__)
    monkeypatch.setattr(legs, "base", parts.base)
    names = [str(number) for number in range(16)]
    assert (parts.base(), parts.changed_last()) == (None, frozenset())
    assert legs.to_run(every=False) == ["next-jax", "tpu", "gpu"]
    assert parts.chosen(names, lambda name: (name,), since=parts.changed) == names


def test_what_changed_is_counted_from_the_last_commit_and_from_a_day_before(history, tmp_path, monkeypatch):
    for name, hours in (("first", 0), ("second", 30), ("third", 40), ("fourth", 50)):
        history(name, hours)
    (tmp_path / "second").write_text("edited")
    (tmp_path / "new").write_text("not added")
    assert parts.changed_last() == {"second", "fourth", "new"}
    assert parts.changed() == {"second", "third", "fourth", "new"}
    first = parts._git("rev-list", "--max-parents=0", "HEAD")
    monkeypatch.setenv("MESHGRADE_TEST_BASE", first)
    assert parts.base() == first
    assert parts.changed() == parts.changed_last() == {"second", "third", "fourth", "new"}


def test_the_lines_that_the_base_lacks_are_named_with_their_file(history, tmp_path):
    for name, hours in (("first", 0), ("second", 30), ("third", 40)):
        history(name, hours)
    (tmp_path / "second").write_text("edited\nagain\n")
    assert list(parts.added_lines(".")) == [("second", "edited"), ("second", "again"), ("third", "third")]
    assert list(parts.added_lines("third")) == [("third", "third")]


def test_a_history_of_hours_has_no_base(history):
    history("first", 0)
    history("second", 1)
    assert (parts.base(), parts.changed_last()) == (None, {"second"})
