"""What students read about grading says what the manifest says, for every check and rule of every problem."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grader.checks.collective_rules import Rule
from grader.checks.grading_table import grading_of
from grader.checks.rule_wording import sentences_of, wording_of
from grader.package.package import CheckSpec
from grader.review.reader import read_package
from tests.faults import for_each
from tests.grader.shipped_submissions import PROBLEMS, package

PACKAGES = Path(__file__).parents[1] / "packages"
MANIFESTS = {path.parent.name: package(path.parent.name).manifest for path in sorted(PROBLEMS.glob("*/problem.toml"))}
MANIFESTS |= {path.parent.name: read_package(path.parent).manifest for path in sorted(PACKAGES.glob("*/problem.toml"))}
# Bounds that stand for words.
WORDS = {"*": "every leaf", "only": "only inside loops", "never": "only outside loops", "any": "along any dimension"}
WORDS |= {"loops": "inside loops", "no loop": "outside loops", "exact": "the same slices"}


@for_each("slug", MANIFESTS)
def test_every_check_has_its_points_a_sentence_and_its_bounds(slug: str) -> None:
    manifest = MANIFESTS[slug]
    for spec, graded in zip(manifest.checks, grading_of(manifest), strict=True):
        assert (graded.id, graded.points) == (spec.id, spec.points)
        assert graded.title
        assert graded.sentences
        assert all(graded.sentences)
        text = " ".join(graded.bounds)
        assert [each for each in stated_by(spec) if not re.search(rf"(?<![\w.]){re.escape(each)}(?![\w])", text)] == []


def stated_by(spec: CheckSpec) -> Iterator[str]:
    """Every value that bounds a check, defaults among them, as its text has to have it."""
    bounds = spec.bounds.model_dump(exclude_none=True)
    for rule in bounds.pop("rules", []):
        rule.pop("means")
        # What is forbidden is a multiple of nothing.
        if rule.get("at_most") == 0:
            del rule["at_most"], rule["of"]
            yield "none"
        yield from values_in({key: value for key, value in rule.items() if (key, value) != ("loops", "any")})
    yield from values_in(bounds)


def values_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():
            yield from values_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from values_in(each)
    elif isinstance(value, str):
        yield WORDS.get(value, "the reference's" if value == "reference" else value)
    # A multiple of 1 is not written as a number: `exactly the bytes of`.
    elif not isinstance(value, bool) and value != 0 and not (isinstance(value, float) and value == 1):
        yield f"{value:,}" if isinstance(value, int) else f"{value:g}"


@for_each("slug", MANIFESTS)
def test_every_rule_about_collectives_is_a_line_and_every_bound_a_sentence(slug: str) -> None:
    manifest = MANIFESTS[slug]
    for spec, graded in zip(manifest.checks, grading_of(manifest), strict=True):
        rules: list[Rule] = getattr(spec.bounds, "rules", []) if spec.id == "collectives" else []
        assert [wording_of(rule) for rule in rules] == list(graded.bounds[: len(rules)])
        assert spec.means or len(graded.sentences) >= sum(rule.at_most != 0 for rule in rules)


def rule(**bounds: Any) -> Rule:
    return Rule.model_validate({"kinds": ["all-gather"], "of": "params", **bounds})


def test_what_the_rules_do_not_bound_is_said_to_be_forbidden_only_if_it_is() -> None:
    gathers = rule(only_from=["params"], each=True, at_least=1.0, at_most=1.0)
    others = rule(not_only_from=["params"], at_most=0.0)
    once = "each leaf of `params` is all-gathered exactly once"
    assert sentences_of([gathers, others], ["all-gather"], 0, is_single=True) == (once, "nothing else is sent")
    assert sentences_of([gathers], ["all-gather"], 64, is_single=True) == (
        once,
        "no collective runs other than all-gather (less than 64 bytes in all do not count)",
    )
    along = rule(not_only_from=["params"], at_most=0.0, axes=["data"])
    assert sentences_of([gathers, along], None, 0, is_single=False) == (
        once,
        "only `params` may be all-gathered over `data`",
    )
    assert sentences_of([], [], 64, is_single=True) == ("devices do not communicate",)
    (sentence,) = sentences_of([], None, 64, is_single=True)
    assert sentence == "a device sends no more than in the accepted solution that sends most"


def test_an_author_may_say_in_a_sentence_of_their_own_what_a_check_asks_for() -> None:
    manifest = MANIFESTS["add_one"]
    spec = manifest.checks[0].model_copy(update={"means": "every element is one larger"})
    (graded,) = grading_of(manifest.model_copy(update={"checks": [spec]}))
    assert graded.sentences == ("every element is one larger",)
    assert graded.bounds == grading_of(manifest)[0].bounds
