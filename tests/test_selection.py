"""What a run tests follows from the tree: from what differs from the base, and from digests."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import selection

PLUGINS = ("-p", "no:cacheprovider", "-p", "no:randomly", "-p", "tests.selection")
Git = Callable[..., str]


@pytest.fixture
def history(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Git:
    """A history of three commits, at which `selection` looks. Runs further commands of Git."""
    monkeypatch.setattr(selection, "CHECKOUT", tmp_path)
    for each in (selection.base, selection.changed):
        monkeypatch.setattr(selection, each.__name__, each.__wrapped__)

    def git(*command: str) -> str:
        names = ("-c", "user.name=Tests", "-c", "user.email=tests@example.org")
        done = subprocess.run(["git", *names, *command], cwd=tmp_path, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    git("init", "--initial-branch", "main")
    for name in ("first", "second", "third"):
        (tmp_path / name).write_text(name)
        git("add", name)
        git("commit", "--message", name)
    return git


def _set_base(commit: str) -> None:
    file = selection.CHECKOUT / selection.BASE_FILE
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"{commit}\n")


def test_what_differs_from_the_base_changed_in_every_commit_since_and_in_the_working_tree(history: Git) -> None:
    _set_base(history("rev-parse", "HEAD~1"))
    history("add", ".ci")
    history("commit", "--message", "base")
    (selection.CHECKOUT / "second").write_text("edited")
    (selection.CHECKOUT / "new").write_text("not added")
    assert selection.changed() == {".ci/base", "second", "third", "new"}
    assert selection.has_changed("README.md", "sec")
    assert not selection.has_changed("first", "README.md")


def test_a_file_that_moved_changed_under_both_names(history: Git) -> None:
    _set_base(history("rev-parse", "HEAD"))
    history("mv", "first", "moved")
    history("commit", "--message", "move")
    assert selection.changed() == {".ci/base", "first", "moved"}


@pytest.mark.parametrize("base", [None, "0" * 40, "another branch"])
def test_without_a_base_that_leads_to_head_everything_changed(history: Git, base: str | None) -> None:
    if base == "another branch":
        history("checkout", "--orphan", "other")
        history("commit", "--message", "apart")
        base = history("rev-parse", "HEAD")
        history("checkout", "main")
    if base:
        _set_base(base)
    assert selection.base() is None
    assert selection.changed() == {"first", "second", "third", *([".ci/base"] if base else [])}


def test_in_a_shallow_clone_everything_changed(history: Git, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _set_base(history("rev-parse", "HEAD~1"))
    history("add", ".ci")
    history("commit", "--message", "base")
    clone = tmp_path / "clone"
    history("clone", "--depth", "1", f"file://{tmp_path}", str(clone))
    monkeypatch.setattr(selection, "CHECKOUT", clone)
    assert selection.base() is None
    assert selection.changed() == {".ci/base", "first", "second", "third"}


def test_in_a_download_everything_changed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setattr(selection, "CHECKOUT", tmp_path)
    for each in (selection.base, selection.changed):
        monkeypatch.setattr(selection, each.__name__, each.__wrapped__)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_text("text")
    assert selection.changed() == {"folder/file"}


def test_the_base_of_this_checkout_is_a_commit() -> None:
    text = (selection.CHECKOUT / selection.BASE_FILE).read_text(encoding="utf-8")
    assert len(text.strip()) == 40
    assert set(text.strip()) <= set("0123456789abcdef")


def test_a_digest_draws_one_item_in_sixteen_and_everything_draws_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(selection.EVERYTHING, raising=False)
    digests = [selection.digest_of(f"unit {number}") for number in range(1600)]
    assert 60 < sum(map(selection.is_drawn, digests)) < 140
    assert all(selection.is_drawn(each, 2) for each in digests if selection.is_drawn(each))
    monkeypatch.setenv(selection.EVERYTHING, "1")
    assert all(map(selection.is_drawn, digests))


def test_a_digest_tells_apart_where_its_parts_end() -> None:
    assert selection.digest_of("ab", "c") != selection.digest_of("a", "bc")
    assert selection.digest_of("ab", b"c") == selection.digest_of(b"ab", "c")


def _changes(monkeypatch: pytest.MonkeyPatch, *paths: str) -> None:
    monkeypatch.delenv(selection.EVERYTHING, raising=False)
    monkeypatch.setattr(selection, "changed", lambda: frozenset(paths))


@pytest.mark.parametrize(("path", "passed"), [("app/entry/main.py", 2), ("apps.md", 0), ("README.md", 1)])
def test_a_test_of_the_rotation_runs_where_its_files_changed(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, path: str, passed: int
) -> None:
    _changes(monkeypatch, path)
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.rotation("app/", "README.md")
        def test_of_the_service(): ...
        @pytest.mark.rotation("app/entry/main.py")
        def test_of_one_file(): ...
        """
    )
    pytester.runpytest_inprocess(*PLUGINS).assert_outcomes(passed=passed, deselected=2 - passed)
    monkeypatch.setenv(selection.EVERYTHING, "1")
    pytester.runpytest_inprocess(*PLUGINS).assert_outcomes(passed=2)


@pytest.mark.parametrize(("path", "ran"), [("README.md", 3), ("app/core/database.py", 6), ("migrations/one.py", 6)])
def test_a_test_on_both_databases_runs_on_one_if_nothing_of_it_changed(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, path: str, ran: int
) -> None:
    _changes(monkeypatch, path)
    monkeypatch.setattr(selection, "_TESTS", pytester.path)
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


def test_the_text_of_the_base_is_known(history: Git) -> None:
    assert selection.text_before("second") is None
    _set_base(history("rev-parse", "HEAD~1"))
    (selection.CHECKOUT / "second").write_text("edited")
    assert selection.text_before("second") == "second"
    assert selection.text_before("third") is None
