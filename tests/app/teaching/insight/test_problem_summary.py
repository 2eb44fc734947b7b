"""Every number about a problem, counted by hand."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.teaching.insight.attempt_facts import AttemptFacts
from app.teaching.insight.pages import in_words
from app.teaching.insight.problem_summary import CommonFault, CountedVersion, Items, Stop, summarize

START = datetime(2026, 1, 5, tzinfo=UTC)


def sent(number: int, user: str, status: str, **more: object) -> AttemptFacts:
    values = {"kind": "attempt", "version": "v2", "reason": None, "counts": True}
    at = START + timedelta(minutes=number)
    return AttemptFacts(id=str(number), user_id=user, status=status, created_at=at, **(values | more))


def wrong(number: int, user: str, check: str = "values", *cases: str, **more: object) -> AttemptFacts:
    return sent(number, user, "rejected", failed_checks=(check, "memory"), failed_cases=cases, **more)


FACTS = [
    sent(0, "ada", "accepted", kind="run"),
    wrong(10, "ada", "values", "one", "two"),
    wrong(20, "ada", "shapes"),
    sent(30, "ada", "accepted"),
    sent(31, "ada", "accepted"),
    sent(40, "bob", "accepted"),
    wrong(50, "cleo", "values", "one", misconception="Adds up."),
    wrong(60, "cleo", "values", "one"),
    wrong(70, "dan", "values", "one", version="v1"),
    sent(80, "eve", "rejected", kind="run"),
    sent(90, "fay", "accepted", counts=False),
]


def test_who_solved_it_after_how_many_attempts_and_how_long():
    found = summarize(FACTS, "v2")
    assert (found.people, found.solved, found.graded, found.accepted) == (6, 2, 8, 3)
    assert (found.solved_share, found.accepted_share) == (2 / 6, 3 / 8)
    assert dict(found.attempts_to_solve) == {
        "1": 1,
        "2": 0,
        "3": 1,
        "4": 0,
        "5": 0,
        "6 to 10": 0,
        "11 to 20": 0,
        "more": 0,
    }
    assert (found.median_attempts, found.median_time) == (2, timedelta(minutes=15))


def test_where_they_stop_counts_every_version():
    found = summarize(FACTS, "v2", {"v2": Items(("one", "two", "three"), ("values", "shapes"))})
    assert found.rejected == 5
    assert found.checks == (Stop.of_columns("values", 4, 3, 2), Stop.of_columns("shapes", 1, 1, 0))
    assert found.cases == (Stop.of_columns("one", 4, 3, 2), Stop.of_columns("two", 1, 1, 0))
    assert found.misconceptions == (Stop.of_columns("Adds up.", 1, 1, 0),)
    assert (found.never_failed, found.left_out) == (("three",), ())
    assert found.versions == (CountedVersion.of_columns("v2", 7), CountedVersion.of_columns("v1", 1))


def test_publishing_a_version_keeps_what_was_known():
    """Before anyone submits to it, and once it is known which cases and checks it still has."""
    before, after = summarize(FACTS, "v2"), summarize(FACTS, "v3")
    assert after == before
    known = summarize(FACTS, "v3", {"v3": Items(("one", "new"), ("values",))})
    assert (known.rejected, known.clusters) == (before.rejected, before.clusters)
    assert [each.name for each in known.checks] == ["values"]
    assert [each.name for each in known.cases] == ["one"]
    assert (known.left_out, known.never_failed) == (("shapes", "two"), ("new",))


def test_a_cluster_is_the_same_at_each_version():
    facts = [
        wrong(1, "ada", "values", "one", version="v1", fingerprint="f"),
        wrong(2, "bob", "values", "one", version="v2", fingerprint="f"),
    ]
    [together], [alone] = summarize(facts, "v2").clusters, summarize(facts[:1], "v1").clusters
    assert (together.attempts, together.people, together.key) == (2, 2, alone.key)


def test_an_item_is_compared_only_at_versions_that_have_all_items_of_the_served_one():
    facts = [wrong(1, "ada", "values", "one", version="v1"), wrong(2, "bob", "values", "one", version="v2")]
    served = Items(("one", "two"), ("values",))
    for earlier, people in ((Items(("one",), ("values",)), 1), (Items(("one", "two", "x"), ("values",)), 2)):
        found = summarize(facts, "v2", {"v1": earlier, "v2": served})
        assert {each.people for each in found.discrimination} == {people}


def test_what_no_misconception_explains_is_grouped_by_what_is_stored():
    found = summarize([*FACTS, wrong(99, "gus", "values", "one")], "v2")
    assert (found.unexplained, found.never_failed) == (5, None)
    assert [(each.check, each.cases, each.attempts, each.people, each.example) for each in found.clusters] == [
        ("values", ("one",), 3, 3, "99"),
        ("shapes", (), 1, 1, "20"),
        ("values", ("one", "two"), 1, 1, "10"),
    ]


@pytest.mark.parametrize(("people", "told"), [(4, None), (5, CommonFault(6, 5, "9"))])
def test_the_commonest_fault_is_told_of_five_people_and_never_of_fewer(people, told):
    same = [wrong(number, f"student {number}", misconception="Adds up.") for number in range(people)]
    others = [wrong(10 + number, f"student {number % 4}", "shapes") for number in range(9)]
    found = summarize([*same, wrong(9, "student 0", "memory", misconception="Adds up."), *others], "v2")
    assert found.common_fault == told


def test_nothing_sent_has_no_shares():
    found = summarize([], "v")
    assert (found.solved_share, found.accepted_share, found.median_attempts, found.median_time) == (None,) * 4


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ada", "bob", "cleo"]),
            st.sampled_from(["accepted", "rejected", "failed", None]),
            st.sampled_from(["attempt", "run"]),
            st.booleans(),
            st.sampled_from(["v1", "v2"]),
        ),
        max_size=30,
    )
)
def test_the_parts_agree_with_the_whole(rows):
    facts = [
        sent(number, user, status, kind=kind, counts=counts, version=version, failed_checks=("c",), failed_cases=("x",))
        for number, (user, status, kind, counts, version) in enumerate(rows)
    ]
    found = summarize(facts, "v2", {"v2": Items(("x", "y"), ("c",))})
    assert sum(count for _, count in found.attempts_to_solve) == found.solved <= found.people
    assert sum(each.attempts for each in found.checks) == found.rejected <= found.graded
    assert sum(each.stuck for each in found.checks) <= found.people - found.solved
    assert sum(each.attempts for each in found.clusters) == found.unexplained == found.rejected
    assert found.never_failed == (("y",) if found.rejected else ("x", "y"))


@pytest.mark.parametrize(
    ("seconds", "words"), [(40, "40 s"), (720, "12 min"), (12_600, "3.5 h"), (4 * 86_400, "4 days")]
)
def test_a_time_is_in_the_unit_of_a_reader(seconds, words):
    assert in_words(timedelta(seconds=seconds)) == words
