"""The discrimination of cases and checks, against numbers that were computed by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.teaching.insight.attempt_facts import AttemptFacts
from app.teaching.insight.discrimination import FEWEST, discriminations
from tests.app.teaching.insight.test_problem_summary import sent

NAMES = ["a", "b", "c"]


def people(*failed: tuple[str, ...]) -> list[AttemptFacts]:
    """One attempt of each person, who fails these cases."""
    return [
        sent(number, f"p{number}", "rejected", failed_cases=each, failed_checks=("values",))
        if each
        else sent(number, f"p{number}", "accepted")
        for number, each in enumerate(failed)
    ]


def index_of(facts: list[AttemptFacts]) -> dict[str, object]:
    found = discriminations(facts, ["v2"], NAMES, [])
    return {each.name: each.index if each.without is None else each.without for each in found}


def test_the_correlation_is_with_the_other_cases_only():
    # Of 20 people, 10 pass everything, 5 fail a and b, and 5 fail only c.
    facts = people(*[()] * 10, *[("a", "b")] * 5, *[("c",)] * 5)
    found = index_of(facts)
    # a: 15 pass with the other two at 2 (10 of them) or 1 (5); 5 fail with 1. By hand: cov 1/8, variances 3/16 and 1/4.
    assert found["a"] == pytest.approx((1 / 8) / (3 / 16 * 1 / 4) ** 0.5)
    assert found["b"] == found["a"]
    # c: 5 fail, and pass both others; 15 pass, of whom 5 fail both. Negative: c misleads those who are right.
    assert found["c"] == pytest.approx((-1 / 8) / (3 / 16 * 3 / 4) ** 0.5)


def test_it_needs_enough_people():
    few = people(*[("a", "b")] * 9, *[()] * 10)
    assert len(few) == FEWEST - 1
    assert index_of(few) == dict.fromkeys(NAMES, "too-few")


def test_why_there_is_none():
    assert index_of(people(*[()] * 20))["a"] == "all-pass"
    assert index_of(people(*[("a",)] * 20))["a"] == "none-passes"
    assert index_of(people(*[("a",)] * 10, *[()] * 10))["a"] == "others-constant"


def test_only_the_first_attempt_at_this_version_that_ran_counts():
    never_ran = sent(0, "p0", "rejected", failed_checks=("values", "sharding"))
    other = sent(1, "p0", "accepted", version="v1")
    run = sent(2, "p0", "accepted", kind="run")
    first = sent(3, "p0", "rejected", failed_checks=("sharding",))
    later = sent(4, "p0", "accepted")
    found = discriminations([never_ran, other, run, first, later], ["v2"], ["a"], ["values", "sharding"])
    assert [(each.kind, each.name, each.people, each.passed) for each in found] == [
        ("case", "a", 1, 1),
        ("check", "values", 1, 1),
        ("check", "sharding", 1, 0),
    ]


@given(st.lists(st.lists(st.sampled_from(NAMES), unique=True).map(tuple), max_size=60))
def test_an_index_is_a_correlation(failed):
    for each in discriminations(people(*failed), ["v2"], NAMES, ["values"]):
        assert (each.index is None) is (each.without is not None)
        assert each.index is None or -1 <= each.index <= 1
        assert 0 <= each.passed <= each.people == len(failed)
