"""All step problems train one network on one batch, so that their bytes, FLOPs and memory can be compared."""

import ast
import re

import pytest

from grader.package.package import Package
from grader.review.reader import read_package
from tests.grader.shipped_submissions import PROBLEMS

# A step problem is one whose network has leaves of these names.
STEPS = sorted(path.parent.name for path in PROBLEMS.glob("*/reference.py") if "self.dense1 = " in path.read_text())
# dp_shard_map is about a gradient that is off by a factor, which Adam would nearly hide: it keeps SGD.
ADAM = [slug for slug in STEPS if "def adam_update(" in (PROBLEMS / slug / "starter.py").read_text()]


@pytest.fixture(scope="module")
def packages() -> dict[str, Package]:
    return {slug: read_package(PROBLEMS / slug) for slug in STEPS}


def test_there_are_steps_with_adam_and_one_without() -> None:
    assert len(STEPS) > len(ADAM) > 1


def definition(source: str, name: str) -> str:
    """A class or function at the top of a file, without comments."""
    (found,) = [each for each in ast.parse(source).body if getattr(each, "name", None) == name]
    return ast.unparse(found)


def matched(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    assert found is not None
    return found[1]


def test_the_network_is_the_same_everywhere(packages: dict[str, Package]) -> None:
    sources = [source for each in packages.values() for source in (each.starter, each.reference)]
    assert len({definition(source, "MLP") for source in sources}) == 1


def test_the_batch_is_the_same_everywhere_and_no_other_dimension(packages: dict[str, Package]) -> None:
    (batch,) = {
        re.search(r"^STEPS, ROWS, D_IN, D_OUT = (.*)$", each.cases, re.MULTILINE)[1] for each in packages.values()
    }  # type: ignore[index]
    steps, rows, d_in, d_out = ast.literal_eval(batch)
    widths = {d_in, 128, 64, d_out}
    assert rows not in {width // part for width in widths for part in (1, 2, 4, 8)}
    assert {each.manifest.program.steps for each in packages.values() if each.manifest.mode == "program"} == {steps}
    for each in packages.values():
        assert f"({rows}, {d_in})" in each.statement or f"`B` is {rows}" in each.statement


def test_the_tolerance_is_the_same_everywhere(packages: dict[str, Package]) -> None:
    assert len({repr(each.manifest.tolerance) for each in packages.values()}) == 1


def test_every_starter_with_adam_has_the_same_finished_update(packages: dict[str, Package]) -> None:
    updates = {definition(packages[slug].starter, "adam_update") for slug in ADAM}
    constants = {matched(r"^LEARNING_RATE, EPSILON = (.*)$", packages[slug].starter) for slug in ADAM}
    assert len(updates) == 1
    assert constants == {"1e-2, 1e-4"}
    for slug in ADAM:
        assert "`adam_update" in packages[slug].statement or "def adam_update" in packages[slug].statement


def test_every_submission_has_the_epsilon_of_the_statement(packages: dict[str, Package]) -> None:
    """All but the one that shows what the usual epsilon gives."""
    faults = [
        f"problems/{slug}/{name}"
        for slug in ADAM
        for name, text in packages[slug].files.items()
        if name.endswith(".py") and "usual_epsilon" not in name and re.search(r"1e-3\b|1e-8\b", text)
    ]
    assert faults == []
