"""Which pairs are found: precision and recall on the labelled set, and what is ignored."""

import time
from itertools import combinations

from app.teaching.similarity.compare import MOST_PAIRS, MOST_PEOPLE, compare, groups_of, without_repeats
from app.teaching.similarity.fingerprints import common_lines, fingerprints
from app.teaching.similarity.rarity import PublicCode
from app.teaching.similarity.tokens import MOST_TOKENS, functions_of
from tests.app.teaching.similarity.disguises import DISGUISES, all_at_once, moved, renamed, swapped
from tests.app.teaching.similarity.labelled import SOLUTIONS, STARTER

PUBLIC = PublicCode.of([STARTER])
NOTHING = PublicCode.of([])


def texts(source: str) -> list[str]:
    return sorted(" ".join(token.text for token in each) for each in functions_of(source) if each)


def found(one: str, other: str) -> bool:
    return bool(compare({"one": fingerprints(one), "other": fingerprints(other)}, PUBLIC))


def test_precision_and_recall_on_the_labelled_set():
    """Of one exercise in seven very different styles; labelled_pairs.py has eight problems."""
    copied = [(source, disguise(source)) for source in SOLUTIONS for disguise in DISGUISES]
    independent = list(combinations(SOLUTIONS, 2))
    hits = sum(found(*pair) for pair in copied)
    alarms = sum(found(*pair) for pair in independent)
    precision, recall = hits / (hits + alarms), hits / len(copied)
    assert (len(copied), len(independent)) == (35, 21)
    assert (precision, recall) == (1.0, 1.0)


def test_two_that_are_independent_are_far_from_the_threshold():
    prints = {str(number): fingerprints(source) for number, source in enumerate(SOLUTIONS)}
    assert compare(prints, PUBLIC, least=0.3) == []


def test_the_order_of_functions_and_operands_does_not_matter():
    for source in SOLUTIONS:
        assert fingerprints(moved(source)).identity == fingerprints(moved(moved(source))).identity
    assert texts("x = a * b[0] + c - -d\n") == texts("x = (c) + b[0] * a - -d\n".replace("(c)", "c"))
    assert texts("x = -lr * g + p\n") == texts("y = q - h * rate\n".replace("h * rate", "rate * h"))
    assert texts("z = a / b * c\n") != texts("z = c * a / b[1]\n")
    found = compare({"one": fingerprints(SOLUTIONS[0]), "other": fingerprints(swapped(SOLUTIONS[0]))}, PUBLIC)
    assert found[0].share > 0.7


def test_where_a_name_comes_from_and_its_type_do_not_matter():
    ways = (
        "import jax\ndef f(x):\n    return jax.lax.psum(x, 'data')\n",
        "from jax import lax\ndef f(x: 'Array') -> 'Array':\n    return lax.psum(x, 'data')\n",
        "from jax.lax import (\n    psum,\n)\ndef f(x):\n    return psum(x, 'data')\n",
    )
    assert len({tuple(texts(each)) for each in ways}) == 1


def test_a_rare_part_weighs_more_than_one_that_half_the_class_has():
    rare = "def g(rows):\n    return {row.key: row.value % 7 for row in rows if row.flag}\n"
    common = "def h(cells):\n    return [cell.left.right(cell.top) for cell in cells.all()]\n"
    honest = {f"h{number}": SOLUTIONS[number % 7] + common for number in range(7)}
    prints = {key: fingerprints(source) for key, source in honest.items()}
    prints |= {"a": fingerprints(SOLUTIONS[0] + rare), "b": fingerprints(SOLUTIONS[1] + rare)}
    shares = {frozenset((each.one, each.other)): each.weight for each in compare(prints, PUBLIC, least=0.0)}
    assert shares[frozenset(("a", "b"))] > 2 * shares[frozenset(("h2", "h3"))]


def test_a_solution_that_ships_with_the_problem_weighs_little():
    prints = {str(number): fingerprints(source) for number, source in enumerate((SOLUTIONS[0],) * 2)}
    [unknown] = compare(prints, PUBLIC)
    [known] = compare(prints, PublicCode.of([STARTER], [SOLUTIONS[0]]), least=0.0)
    assert known.weight < unknown.weight / 5
    assert groups_of(prints | {"2": prints["0"]}, PublicCode.of([STARTER], [SOLUTIONS[0]])) == []


def test_each_person_is_in_a_pair_once_and_never_with_themselves():
    sources = {"a1": SOLUTIONS[0], "a2": renamed(SOLUTIONS[0]), "b1": SOLUTIONS[0], "b2": SOLUTIONS[2]}
    prints = {key: fingerprints(source) for key, source in sources.items()}
    [pair] = compare(prints, PUBLIC, authors={key: key[0] for key in sources})
    assert {pair.one[0], pair.other[0]} == {"a", "b"}


def test_the_starter_is_ignored():
    body = "".join(f"def part_{number}(a): return a.flag{number}(a * {number}, a + {number})\n" for number in range(30))
    one, other = (body + extra for extra in (SOLUTIONS[0], SOLUTIONS[2]))
    assert found(one, other)
    prints = {"one": fingerprints(one), "other": fingerprints(other)}
    assert compare(prints, PublicCode.of([body])) == []


def test_a_copy_among_a_majority_of_copies_is_found():
    """In a class of 19, 14 submit one of two sources and 5 do not copy: all 14 are found, and only they."""
    of_one = [SOLUTIONS[0], f"# mine\n{SOLUTIONS[0].replace('losses', 'history')}"] * 5
    copiers = of_one + [disguise(SOLUTIONS[1]) for disguise in DISGUISES[:4]]
    honest = SOLUTIONS[2:]
    prints = {str(number): fingerprints(each) for number, each in enumerate([*copiers, *honest])}
    groups = groups_of(prints, PUBLIC)
    assert len(groups[0]) == 10
    alike = {key for each in groups for key in each}
    once = {key: prints[key] for key in without_repeats(groups, list(prints))}
    alike |= {key for pair in compare(once, PUBLIC) for key in (pair.one, pair.other)}
    assert alike == {str(number) for number in range(len(copiers))}


def test_only_three_or_more_identical_ones_with_own_parts_are_a_group():
    two = {"a": fingerprints(SOLUTIONS[0]), "b": fingerprints(SOLUTIONS[0].replace("losses", "history"))}
    assert groups_of(two, PUBLIC) == []
    assert groups_of(two | {"c": fingerprints(SOLUTIONS[0])}, PUBLIC) == [("a", "b", "c")]
    starters = {str(number): fingerprints(STARTER) for number in range(5)}
    assert groups_of(starters, PUBLIC) == []


def test_lines_that_are_alike_are_marked_in_both():
    extra = "def other(rows):\n    table = {}\n    for row in rows:\n        table[row.key] = row.value % 7\n"
    one, other = SOLUTIONS[1], extra + renamed(SOLUTIONS[1])
    first, second = fingerprints(one), fingerprints(other)
    lines = common_lines(second, first, frozenset())
    assert not lines & {3, 4}
    texts = other.split("\n")
    assert any("value_and_grad" in texts[line - 1] for line in lines)
    assert len(common_lines(first, second, frozenset())) >= 10


def test_any_text_is_read_in_one_pass():
    began = time.thread_time()
    for text in (
        "",
        "(" * 60_000,
        "'" * 60_000,
        '"""' * 20_000 + "x",
        "\\" * 60_000,
        "-" * 60_000,
        "é\0\ud800" * 9_000,
    ):
        assert sum(map(len, functions_of(text))) <= MOST_TOKENS
        fingerprints(text)
    assert time.thread_time() - began < 20


def test_500_people_are_compared_within_bounds():
    prints = {
        str(number): fingerprints(all_at_once(SOLUTIONS[number % 7]) + f"\nz{number} = q.r{number}({number})\n" * 5)
        for number in range(20)
    }
    many = {f"{number:03}": prints[str(number % 20)] for number in range(MOST_PEOPLE)}
    began = time.thread_time()
    pairs = compare(many, NOTHING)
    assert len(pairs) > MOST_PAIRS
    assert time.thread_time() - began < 30
    assert [each.share for each in pairs] == sorted((each.share for each in pairs), reverse=True)


def test_a_part_of_too_many_fingerprints_is_compared_and_a_copy_is_still_found(monkeypatch):
    prints = {str(number): fingerprints(source) for number, source in enumerate(SOLUTIONS)}
    prints["copy"] = fingerprints(all_at_once(SOLUTIONS[3]))
    monkeypatch.setattr("app.teaching.similarity.compare._MOST_MARKS", 400)
    [pair] = compare(prints, PUBLIC)
    assert {pair.one, pair.other} == {"3", "copy"}
    assert sum(len(each.marks) for each in prints.values()) > 800
