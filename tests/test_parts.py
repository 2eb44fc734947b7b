"""Which tests and which submissions belong to a part of a run."""

import subprocess

import pytest

from tests import parts

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
    monkeypatch.setattr(parts, "changed", frozenset)
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.part(3)
        def test_of_a_part(): ...
        def test_of_every_part(): ...
        """
    )
    pytester.runpytest_inprocess(*PLUGINS).assert_outcomes(passed=passed, deselected=2 - passed)


@pytest.mark.parametrize(("path", "passed"), [("app/main.py", 2), ("apps.md", 0), ("README.md", 1)])
def test_a_marked_test_runs_where_its_files_changed(pytester, monkeypatch, path, passed):
    monkeypatch.setattr(parts, "PART", "1/8")
    monkeypatch.setattr(parts, "changed", lambda: frozenset({path}))
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.part(3, "app/", "README.md")
        def test_of_the_service(): ...
        @pytest.mark.part(3, "app/main.py")
        def test_of_one_file(): ...
        """
    )
    pytester.runpytest_inprocess(*PLUGINS).assert_outcomes(passed=passed, deselected=2 - passed)


def test_a_checkout_without_history_has_no_changes(monkeypatch, tmp_path):
    monkeypatch.setattr(parts, "_CHECKOUT", tmp_path)
    assert parts.changed.__wrapped__() == frozenset()


def test_the_changes_are_those_of_the_last_commit_and_of_the_working_tree(monkeypatch, tmp_path):
    def git(*command: str) -> None:
        names = ("-c", "user.name=Tests", "-c", "user.email=tests@example.org")
        subprocess.run(["git", *names, *command], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    for name in ("first", "second", "third"):
        (tmp_path / name).write_text(name)
        git("add", name)
        git("commit", "--message", name)
    (tmp_path / "second").write_text("edited")
    (tmp_path / "new").write_text("not added")
    monkeypatch.setattr(parts, "_CHECKOUT", tmp_path)
    assert parts.changed.__wrapped__() == {"second", "third", "new"}
