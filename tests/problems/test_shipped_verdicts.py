"""`meshgrade problem check problems` finds nothing, by the verdicts that tests/grader/shipped_verdicts keeps.

Each run judges one submission in sixteen again and compares it with these (tests/grader/shipped_submissions.py).
"""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, cast

import pytest

from app.authoring.package_check import judge_package
from grader.checks.program import sharding
from grader.core.context import QUIET
from grader.mistakes.known_mistakes import KnownMistakes, current, is_alike
from grader.review.validation import expectations
from tests.grader import shipped_verdicts
from tests.grader.shipped_submissions import package, slugs

# Answer-mode problems have no submissions: `python -m tests.prove` judges their questions.
SLUGS = sorted(slugs("call") + slugs("program"))


@pytest.mark.parametrize("slug", SLUGS)
def test_every_verdict_is_kept_for_the_files_that_it_depends_on(slug: str) -> None:
    problem, outlines = package(slug), shipped_verdicts.kept(slug)
    names = [each.file for each in expectations(problem)]
    changed = [name for name in names if outlines.get(name, {}).get("of") != shipped_verdicts.depends_on(problem, name)]
    assert changed == [], shipped_verdicts.AGAIN.format(slug=slug)
    assert list(outlines) == names


@pytest.mark.parametrize("slug", SLUGS)
def test_every_known_mistake_has_its_fingerprint(slug: str) -> None:
    assert shipped_verdicts.without_fingerprint(slug) == [], shipped_verdicts.AGAIN.format(slug=slug)
    known = package(slug).known
    assert known is not None
    assert known.mistakes.keys() <= {each.name for each in package(slug).rejected}


@pytest.mark.parametrize("slug", SLUGS)
def test_a_copy_of_a_known_mistake_is_recognised_and_nothing_is_run(slug: str) -> None:
    """Except if another known mistake does the same in the public cases, or if these do not show it."""
    problem = package(slug)
    shipped = current(problem)
    for each in problem.rejected:
        mine = shipped.get(each.name)
        if mine is None or not mine.shown or not (mine.results or mine.pattern):
            continue
        told = KnownMistakes(problem, each.source, runs=0).explain(
            mine, each.reason, lambda _: False, has_more=bool(mine.results)
        )
        others = [name for name, other in shipped.items() if is_alike(other, mine, problem.manifest.tolerance)]
        assert told == each.misunderstanding or (told is None and len(others) > 1), each.name


@pytest.mark.parametrize("slug", SLUGS)
def test_the_judged_rules_find_nothing(slug: str) -> None:
    problem = package(slug)
    with ThreadPoolExecutor(1) as executor:
        found = judge_package(
            problem, cast("Any", shipped_verdicts.KeptJudge(problem)), QUIET, executor, lambda _: None
        )
    assert found.faults == ()
    assert found.submissions == len(expectations(problem))


def test_a_text_changes_no_verdict_and_a_case_changes_all() -> None:
    problem = package("psum_scatter_mean")
    one, other = (f"submissions/rejected/{each.name}.py" for each in problem.rejected[:2])
    before = shipped_verdicts.depends_on(problem, one)
    for file, is_same in (
        ("hints.md", True),
        (other, True),
        (one, False),
        ("cases.py", False),
        ("reference.py", False),
    ):
        changed = replace(problem, files={**problem.files, file: "changed"})
        assert (shipped_verdicts.depends_on(changed, one) == before) == is_same, file


@pytest.mark.parametrize(("text", "is_same"), [("rule = ", True), ("points = ", False)])
def test_the_words_of_a_check_change_no_verdict(text: str, is_same: bool) -> None:
    problem = package("psum_scatter_mean")
    manifest = re.sub(rf"^{text}.*$", f'{text}"9"', problem.files["problem.toml"], flags=re.MULTILINE)
    changed = replace(problem, files={**problem.files, "problem.toml": manifest})
    same = shipped_verdicts.depends_on(changed, "reference.py") == shipped_verdicts.depends_on(problem, "reference.py")
    assert same == is_same


@pytest.mark.parametrize("slug", slugs("program"))
def test_a_problem_says_which_spec_a_leaf_has(slug: str) -> None:
    """A message that compares specs is of little use without the rule that they follow."""
    for check in package(slug).manifest.checks:
        if isinstance(check.bounds, sharding.Bounds):
            assert check.bounds.rule
