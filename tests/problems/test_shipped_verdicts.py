"""What the hash of a kept verdict depends on. That the hashes are those of the files, tests/shipped proves."""

import re
from dataclasses import replace

import pytest

from tests.grader import shipped_verdicts
from tests.grader.shipped_submissions import package


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
