"""What a run leaves out because nothing that it depends on has changed."""

from collections.abc import Callable

import pytest
import typer

from tests import __main__ as command
from tests import unchanged
from tests.cpu_budget import CHECK
from tests.import_closure import CHECKOUT, closure
from tests.pytest_runs import Outcome
from tests.unchanged import ALWAYS, ATTACKS, COMMANDS, LEARNERS, SERVICE, WALKS, WORK

PLUGINS = ("-p", "no:cacheprovider", "-p", "no:randomly", "-p", "tests.slow_tests", "-p", "tests.unchanged")
Change = Callable[..., None]


@pytest.fixture
def changes(monkeypatch: pytest.MonkeyPatch) -> Change:
    """Sets what changed since the base, in a complete run."""

    def change(*paths: str) -> None:
        monkeypatch.setenv(unchanged.ONLY_CHANGED, "1")
        monkeypatch.setattr(unchanged, "base", lambda: "abc123")
        monkeypatch.setattr(
            unchanged, "has_changed", lambda *prefixes: any(path.startswith(prefixes) for path in paths)
        )

    return change


def _due() -> set[str]:
    return {name for name in WORK if unchanged.due(name)}


def test_work_is_left_out_if_nothing_that_it_depends_on_changed(changes: Change) -> None:
    changes("CHANGELOG.md", "deploy/compose.yaml", "tests/hostile/arena.py")
    assert _due() == {ATTACKS}
    told = list(unchanged.reasons())
    assert len(told) == len(WORK) - 1
    assert told[0].startswith(
        "Left out: slow tests of the grader, because nothing that decides the outcome has changed since abc123: grader/"
    )
    assert all(each.endswith("With --all, it runs.") for each in told)


def test_a_journey_is_made_if_its_pages_changed(changes: Change) -> None:
    changes("app/teaching/courses/pages.py")
    assert _due() == {COMMANDS, SERVICE, WALKS}
    for path in ("app/core/templates/base.html", "tests/browser/workbench.py"):
        changes(path)
        assert {LEARNERS, SERVICE} <= _due()


@pytest.mark.parametrize("path", ["grader/judging/judge.py", "uv.lock", "tests/selection.py", "pyproject.toml"])
def test_a_change_of_the_grader_or_of_what_all_tests_share_leaves_nothing_out(changes: Change, path: str) -> None:
    changes(path)
    assert _due() == WORK.keys()
    assert list(unchanged.reasons()) == []


def test_everything_runs_if_the_tests_to_run_are_named(changes: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    changes("README.md")
    assert _due() == set()
    monkeypatch.delenv(unchanged.ONLY_CHANGED)
    assert _due() == WORK.keys()


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("README.md", ["tests"]),
        ("grader/sandbox/bubblewrap.py", ["tests", "hostile tests"]),
    ],
)
def test_a_run_whose_tests_are_all_left_out_does_not_begin(
    changes: Change, monkeypatch: pytest.MonkeyPatch, path: str, names: list[str]
) -> None:
    changes(path)
    monkeypatch.setenv(CHECK, "1")
    began: list[str] = []
    monkeypatch.setattr(command, "run", lambda name, *_: (began.append(name), Outcome())[1])
    monkeypatch.setattr(command, "_failed_of", lambda steps: [])
    with pytest.raises(typer.Exit) as ended:
        command.run_tests()
    assert (began, ended.value.exit_code) == (names, 0)


def test_slow_tests_are_deselected_and_quick_ones_run(
    pytester: pytest.Pytester, changes: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes("README.md")
    monkeypatch.setattr(unchanged, "WORK", {ATTACKS: WORK[ATTACKS]})
    source = """
    import pytest

    @pytest.fixture
    def arena(): ...
    def test_slow(arena): ...
    def test_quick(): ...
    @pytest.mark.left_out
    def test_nothing(): ...
    """
    for folder in ("tests/hostile", "tests/lessons"):
        path = pytester.path / folder / "test_one.py"
        path.parent.mkdir(parents=True)
        path.write_text("\n".join(line[4:] for line in source.splitlines()), encoding="utf-8")
    pytester.runpytest_inprocess(*PLUGINS, "--import-mode=importlib").assert_outcomes(passed=3, deselected=3)
    changes("grader/judging/judge.py")
    pytester.runpytest_inprocess(*PLUGINS, "--import-mode=importlib").assert_outcomes(passed=4, deselected=2)


def _tests_of(prefix: str) -> list[str]:
    found = [CHECKOUT / prefix] if prefix.endswith(".py") else sorted((CHECKOUT / prefix).rglob("test_*.py"))
    return [str(path.relative_to(CHECKOUT)) for path in found]


@pytest.mark.parametrize("name", WORK)
def test_the_table_names_all_that_the_tests_import(name: str) -> None:
    """If a test imports something else, add it to WORK, or a test of a whole folder to ALWAYS."""
    work = WORK[name]
    tests = [file for prefix in work.tests for file in _tests_of(prefix) if file not in ALWAYS]
    assert tests
    missing = {file: sorted(path for path in closure([file]) if not path.startswith(work.depends)) for file in tests}
    assert {file: paths for file, paths in missing.items() if paths} == {}


def test_every_prefix_and_every_exception_exists() -> None:
    for path in {path for work in WORK.values() for path in (*work.tests, *work.depends)} | ALWAYS:
        folder, _, start = path.rpartition("/")
        assert [each for each in (CHECKOUT / folder).iterdir() if each.name.startswith(start)], path


def test_an_exception_imports_what_the_table_does_not_name() -> None:
    for file in ALWAYS:
        assert any(
            file.startswith(work.tests) and any(not path.startswith(work.depends) for path in closure([file]))
            for work in WORK.values()
        ), f"{file} can be removed from ALWAYS"


def test_the_closure_has_indirect_imports_and_the_fixtures_of_folders() -> None:
    found = closure(["tests/hostile/test_hostile.py"])
    assert {"tests/hostile/conftest.py", "tests/conftest.py", "grader/sandbox/walls.py", "grader/__init__.py"} <= found
    assert not [path for path in found if path.startswith("app/")]


def test_the_closure_has_the_programs_that_tests_start() -> None:
    found = closure(["tests/problems/on_8_devices.py"])
    assert {"tests/problems/at_full_size.py", "tests/problems/measured_programs.py"} <= found


def test_a_closure_within_a_folder_follows_no_import_out_of_it() -> None:
    found = closure(["tests/problems/on_8_devices.py"], within=("tests/",))
    assert "tests/problems/measured_programs.py" in found
    assert not [path for path in found if not path.startswith("tests/")]
