"""Which pairs are found: precision and recall on the labelled set, and what is ignored."""

import time
from itertools import combinations

from app.teaching.similarity.compare import FROM, MOST_PAIRS, MOST_PEOPLE, compare, groups_of, ignored_of
from app.teaching.similarity.fingerprints import MOST_TOKENS, common_lines, fingerprints, share, tokens_of
from tests.app.teaching.similarity.labelled import DISGUISES, SOLUTIONS, STARTER, all_at_once, renamed


def found(one: str, other: str) -> bool:
    return bool(compare({"one": fingerprints(one), "other": fingerprints(other)}, ignored_of([STARTER])))


def test_precision_and_recall_on_the_labelled_set():
    """docs/performance.md does not apply: these are counts, and exact."""
    copied = [(source, disguise(source)) for source in SOLUTIONS for disguise in DISGUISES]
    independent = list(combinations(SOLUTIONS, 2))
    hits = sum(found(*pair) for pair in copied)
    alarms = sum(found(*pair) for pair in independent)
    precision, recall = hits / (hits + alarms), hits / len(copied)
    assert (len(copied), len(independent)) == (35, 21)
    assert (precision, recall) == (1.0, 1.0)


def test_two_that_are_independent_are_far_from_the_threshold():
    ignored = ignored_of([STARTER])
    marks = [fingerprints(source).marks - ignored for source in SOLUTIONS]
    assert max(share(one, other) for one, other in combinations(marks, 2)) < FROM / 2


def test_the_starter_is_ignored():
    body = "".join(f"def part_{number}(a): return a.flag{number}(a * {number}, a + {number})\n" for number in range(30))
    one, other = (body + extra for extra in (SOLUTIONS[0], SOLUTIONS[2]))
    assert found(one, other)
    prints = {"one": fingerprints(one), "other": fingerprints(other)}
    assert compare(prints, ignored_of([body])) == []


def test_a_copy_among_a_majority_of_copies_is_found():
    """In a class of 19, 14 submit one of two sources and 5 do not copy: all 14 are found, and only they."""
    of_one = [SOLUTIONS[0], f"# mine\n{SOLUTIONS[0].replace('losses', 'history')}"] * 5
    copiers = of_one + [disguise(SOLUTIONS[1]) for disguise in DISGUISES[:4]]
    honest = SOLUTIONS[2:]
    prints = {str(number): fingerprints(each) for number, each in enumerate([*copiers, *honest])}
    ignored = ignored_of([STARTER])
    groups = groups_of(prints, ignored)
    assert len(groups[0]) == 10
    alike = {key for each in groups for key in each}
    alike |= {key for pair in compare(prints, ignored) for key in (pair.one, pair.other)}
    assert alike == {str(number) for number in range(len(copiers))}


def test_only_three_or_more_identical_ones_with_own_parts_are_a_group():
    ignored = ignored_of([STARTER])
    two = {"a": fingerprints(SOLUTIONS[0]), "b": fingerprints(SOLUTIONS[0].replace("losses", "history"))}
    assert groups_of(two, ignored) == []
    assert groups_of(two | {"c": fingerprints(SOLUTIONS[0])}, ignored) == [("a", "b", "c")]
    starters = {str(number): fingerprints(STARTER) for number in range(5)}
    assert groups_of(starters, ignored) == []


def test_lines_that_are_alike_are_marked_in_both():
    extra = "def other(rows):\n    table = {}\n    for row in rows:\n        table[row.key] = row.value % 7\n"
    one, other = SOLUTIONS[1], extra + renamed(SOLUTIONS[1])
    first, second = fingerprints(one), fingerprints(other)
    lines = common_lines(second, first, frozenset())
    assert not lines & {3, 4}
    texts = other.split("\n")
    assert any("value_and_grad" in texts[line - 1] for line in lines)
    assert len(common_lines(first, second, frozenset())) > 10


def test_any_text_is_read_in_one_pass():
    began = time.monotonic()
    for text in (
        "",
        "(" * 60_000,
        "'" * 60_000,
        '"""' * 20_000 + "x",
        "\\" * 60_000,
        "-" * 60_000,
        "é\0\ud800" * 9_000,
    ):
        assert len(tokens_of(text)) <= MOST_TOKENS
        fingerprints(text)
    assert time.monotonic() - began < 20


def test_500_people_are_compared_within_bounds():
    prints = {
        str(number): fingerprints(all_at_once(SOLUTIONS[number % 7]) + f"\nz{number} = q.r{number}({number})\n" * 5)
        for number in range(20)
    }
    many = {f"{number:03}": prints[str(number % 20)] for number in range(MOST_PEOPLE)}
    began = time.monotonic()
    pairs = compare(many, frozenset())
    assert len(pairs) > MOST_PAIRS
    assert time.monotonic() - began < 30
    assert [each.share for each in pairs] == sorted((each.share for each in pairs), reverse=True)
