"""What a run leaves out because nothing that it depends on has changed."""

from collections.abc import Callable, Iterator

import pytest

from tests import parts, unchanged
from tests.grader import shipped_submissions
from tests.import_closure import CHECKOUT, closure
from tests.unchanged import ALWAYS, ATTACKS, GUIDES, WORK

PLUGINS = ("-p", "no:cacheprovider", "-p", "no:randomly", "-p", "tests.slow_tests", "-p", "tests.unchanged")
Change = Callable[..., None]


@pytest.fixture
def changes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Change]:
    """Sets what changed since the base, in a run of the commit's part."""

    def change(*paths: str, turn: int = 8, base: str | None = "abc123") -> None:
        unchanged.due.cache_clear()
        monkeypatch.setenv(unchanged.ONLY_CHANGED, "1")
        for module in (unchanged, parts, shipped_submissions):
            monkeypatch.setattr(module, "changed", lambda: frozenset(paths))
            monkeypatch.setattr(module, "base", lambda: base)
        monkeypatch.setattr(unchanged, "turn_of_commit", lambda: turn)

    yield change
    unchanged.due.cache_clear()


def _due() -> set[str]:
    return {name for name in WORK if unchanged.due(name)}


def test_work_is_left_out_if_nothing_that_it_depends_on_changed(changes: Change) -> None:
    changes("CHANGELOG.md", "app/entry/main.py", turn=2)
    assert _due() == {"slow tests of the grader", "pages of the documentation"}
    told = list(unchanged.reasons())
    assert len(told) == len(WORK) - 2
    assert told[0].startswith(
        "Left out: submissions, except what itself changed, because nothing that decides the outcome has changed since "
        "abc123: grader/, "
    )
    assert all(each.endswith("With --all or --part, and for one commit in eight, it runs.") for each in told)


@pytest.mark.parametrize("path", ["grader/judging/judge.py", "uv.lock", "tests/parts.py", "pyproject.toml"])
def test_a_change_of_the_grader_or_of_what_all_tests_share_leaves_nothing_out(changes: Change, path: str) -> None:
    changes(path)
    assert _due() == WORK.keys()
    assert list(unchanged.reasons()) == []


def test_everything_runs_without_a_base_or_if_the_part_was_given(
    changes: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes("README.md", base=None)
    assert _due() == WORK.keys()
    changes("README.md", turn=3)
    assert _due() == {ATTACKS}
    unchanged.due.cache_clear()
    monkeypatch.delenv(unchanged.ONLY_CHANGED)
    assert _due() == WORK.keys()


def test_in_64_commits_each_part_of_each_kind_of_work_has_its_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    found = set()
    for commit in range(64):
        monkeypatch.setattr(parts, "_git", lambda *_, commit=commit: f"{commit:x}")
        found.add((parts.part_of_commit(), parts.turn_of_commit()))
    assert len(found) == 64


def test_only_changed_items_are_chosen_if_what_they_share_is_unchanged(
    changes: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "PART", "3/8")
    monkeypatch.delenv("MESHGRADE_TEST_BASE", raising=False)
    monkeypatch.setattr(parts, "changed_last", lambda: frozenset({"lessons/4/lesson.md"}))
    names = [str(number) for number in range(16)]

    def chosen(is_due: bool) -> list[str]:
        return parts.chosen(names, lambda name: (f"lessons/{name}/",), since=parts.changed_last, is_due=is_due)

    changes("lessons/4/lesson.md", "lessons/5/lesson.md")
    assert chosen(is_due=False) == ["4", "5"]
    changes()
    assert chosen(is_due=False) == []
    # Within a day, so many changed that they take turns.
    changes(*(f"lessons/{number}/lesson.md" for number in range(3)))
    assert chosen(is_due=False) == parts._chosen(
        names, lambda name: (f"lessons/{name}/",), (), "3/8", frozenset({"lessons/4/lesson.md"})
    )
    monkeypatch.setenv("MESHGRADE_TEST_BASE", "abc123")
    assert chosen(is_due=False) == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("lines", "grader", "judged"),
    [
        ([], False, []),
        ([' "starter.py": {"of": "b"},'], False, ["one:starter"]),
        ([' "submissions/accepted/a.py": {"of": "b"}', "{"], False, ["one:accepted/a"]),
        ([' "starter.py": {"of": "b"}'], True, ["one:reference", "one:starter", "two:reference"]),
    ],
    ids=["nothing", "the starter", "a submission", "the starter and the grader"],
)
def test_a_submission_is_judged_if_its_outline_changed(
    changes: Change, monkeypatch: pytest.MonkeyPatch, lines: list[str], grader: bool, judged: list[str]
) -> None:
    monkeypatch.setattr(shipped_submissions, "slugs", lambda mode: ["one", "two"] if mode == "program" else [])
    monkeypatch.setattr(shipped_submissions, "_submissions", lambda slug: ["accepted/a"])
    monkeypatch.setattr(shipped_submissions, "PART", "8/8")
    monkeypatch.setattr(shipped_submissions, "changed_last", frozenset)
    monkeypatch.setattr(
        shipped_submissions, "added_lines", lambda folder: ((f"{folder}/one.json", line) for line in lines)
    )
    changes("tests/grader/shipped_verdicts/one.json", *(["grader/judging/judge.py"] if grader else []))
    assert shipped_submissions._of_this_run.__wrapped__() == judged


def test_too_many_submissions_for_one_run_take_turns(changes: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MESHGRADE_TEST_BASE", raising=False)
    monkeypatch.setattr(shipped_submissions, "slugs", lambda mode: ["one", "two"] if mode == "program" else [])
    monkeypatch.setattr(shipped_submissions, "_submissions", lambda slug: [f"accepted/{n}" for n in range(4)])
    monkeypatch.setattr(shipped_submissions, "PART", "2/8")
    monkeypatch.setattr(shipped_submissions, "changed_last", frozenset)
    lines = [f' "submissions/accepted/{number}.py": {{' for number in range(4)]
    monkeypatch.setattr(shipped_submissions, "added_lines", lambda _: (("one.json", line) for line in lines))
    changes()
    found = shipped_submissions._of_this_run.__wrapped__()
    assert {name.partition(":")[0] for name in found} == {"two"}
    assert len(found) == 6


def test_slow_tests_are_deselected_and_quick_ones_run(
    pytester: pytest.Pytester, changes: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes("README.md")
    monkeypatch.setattr(unchanged, "WORK", {ATTACKS: WORK[ATTACKS], GUIDES: WORK[GUIDES]})
    source = """
    import pytest

    @pytest.fixture
    def arena(): ...
    def test_slow(arena): ...
    def test_quick(): ...
    @pytest.mark.left_out
    def test_nothing(): ...
    """
    for folder in ("tests/hostile", "tests/docs"):
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
    whole = [work for work in WORK.values() if work.whole]
    for file in ALWAYS:
        assert any(
            file.startswith(work.tests) and any(not path.startswith(work.depends) for path in closure([file]))
            for work in whole
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
