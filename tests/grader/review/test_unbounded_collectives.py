"""Ways to communicate that no rule bounds, in manifests of shipped problems from which a rule was taken away."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from grader.core.toml import read_toml
from grader.package.package import MANIFEST
from grader.review.contradictions import contradictions
from grader.review.unbounded_collectives import unbounded

PROBLEMS = Path(__file__).parents[3] / "problems"
Rules = list[dict[str, Any]]


def messages(slug: str, change: Callable[[Rules], Rules]) -> list[str]:
    def with_rules(check: dict[str, Any]) -> list[dict[str, Any]]:
        return [check | {"rules": change(check["rules"])}]

    return messages_of(slug, with_rules)


def messages_of(slug: str, change: Callable[[dict[str, Any]], list[dict[str, Any]]]) -> list[str]:
    """What is found if this becomes of the check `collectives`."""
    raw = read_toml((PROBLEMS / slug / "problem.toml").read_text())
    check = next(each for each in raw["checks"] if each["id"] == "collectives")
    others = [each for each in raw["checks"] if each is not check]
    raw["checks"] = [*others, *change(check)]
    missing = 100 - sum(each["points"] for each in raw["checks"])
    raw["checks"][0]["points"] += missing
    manifest = MANIFEST.validate_python(raw)
    assert not contradictions(manifest, slug)
    return [each.message for each in unbounded(manifest)]


def unchanged(rules: Rules) -> Rules:
    return rules


def test_a_set_of_axes_that_no_rule_names_is_found_for_each_kind():
    assert messages("explicit_matmul", unchanged) == []
    found = messages("explicit_matmul", lambda rules: [each for each in rules if each["axes"] != ["data", "model"]])
    assert found == [
        f"{kind} over data and model has no upper bound" for kind in ("all-reduce", "reduce-scatter", "all-gather")
    ]


def test_what_one_rule_excepts_another_one_must_bound():
    assert messages("train_loop_one_trace", unchanged) == []
    found = messages("train_loop_one_trace", lambda rules: [each for each in rules if each.get("into") != ["loss"]])
    assert found == ["all-reduce over data has no upper bound: no rule bounds into = ['loss']"]


def test_a_lower_bound_alone_is_none():
    def only_lower(rules: Rules) -> Rules:
        return [{key: value for key, value in rule.items() if key != "at_most"} for rule in rules]

    assert messages("psum_by_hand", unchanged) == []
    assert messages("psum_by_hand", only_lower) != []


def test_a_rule_about_loops_leaves_what_is_outside():
    assert messages("psum_by_hand", lambda rules: [rule | {"within": "loops"} for rule in rules]) != []


def test_without_the_check_nothing_is_bounded():
    assert messages_of("psum_by_hand", lambda check: []) == ["no check bounds what the devices send"]


def test_without_rules_everything_together_is_bounded():
    def without_rules(check: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"id": "collectives", "points": check["points"]}]

    assert messages_of("psum_by_hand", without_rules) == []


def test_rules_without_allowed_kinds_leave_the_other_kinds():
    def every_kind(check: dict[str, Any]) -> list[dict[str, Any]]:
        return [{key: value for key, value in check.items() if key != "allowed"}]

    found = messages_of("psum_by_hand", every_kind)
    assert "all-to-all over data has no upper bound" in found
