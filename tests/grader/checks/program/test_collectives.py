"""The rules on collectives."""

from dataclasses import replace
from typing import Any

import pytest

from grader.checks.collective_rules import Count, Rule
from grader.checks.program import collectives, values
from grader.checks.program_subject import Pair, Subject
from grader.core.errors import GraderFault
from grader.program.collectives import Collective
from grader.verdicts.evidence import Limit
from tests.grader.checks.program.made_up_programs import EIGHT, FOUR, exchange, part, program, split, subject

WHOLE = 32_768


def finding_of(mine: list[Collective], reference: list[Collective] | None = None, **bounds: Any):
    pair = (program(EIGHT, collectives=mine), program(EIGHT, collectives=mine if reference is None else reference))
    return collectives.check(subject(pair), collectives.Bounds(**bounds))


def rule(**fields: Any) -> dict[str, Any]:
    return {"rules": [Rule(kinds=["all-gather"], **fields)]}


def test_only_allowed_kinds_pass():
    finding = finding_of([exchange("all-reduce", WHOLE)], allowed=["all-reduce"])
    assert finding.passed
    assert finding.message == "On mesh x=8: all-reduce 32 KiB."
    finding = finding_of([exchange("all-gather", WHOLE), exchange("all-gather", WHOLE)], allowed=["all-reduce"])
    assert (finding.passed, finding.reason) == (False, "wrong_communication")
    assert "the program runs 2 all-gathers of 64 KiB in total (line 7)" in finding.message
    assert "Allowed: all-reduce." in finding.message


def test_a_problem_may_allow_no_collective():
    assert finding_of([], allowed=[]).message == "On mesh x=8: no collective of more than a few bytes."
    assert "Allowed: no collective." in finding_of([exchange("all-gather", WHOLE)], allowed=[]).message


def test_a_loss_is_too_small_to_count():
    assert finding_of([exchange("all-reduce", 4)], allowed=[]).passed
    assert not finding_of([exchange("all-reduce", 64)], allowed=[]).passed


def test_many_small_ones_count():
    """Otherwise an array could be moved four bytes at a time."""
    assert finding_of([exchange("all-reduce", 21)] * 3, allowed=[]).passed
    assert not finding_of([exchange("all-reduce", 32)] * 2, allowed=[]).passed
    assert not finding_of([exchange("all-reduce", 32, executions=100, loops=("while",))], allowed=[]).passed


def test_a_group_of_one_device_does_not_communicate():
    alone = exchange("all-gather", WHOLE, 1, groups=tuple((device,) for device in range(8)))
    assert finding_of([alone], allowed=[]).passed


@pytest.mark.parametrize(
    ("times", "passed"), [(1, True), (2, True), (3, False), (0, False)], ids=["once", "twice", "thrice", "never"]
)
def test_bytes_are_a_multiple_of_a_groups_bytes(times: int, passed: bool):
    bounds = rule(axes=["x"], of="params", at_least=0.95, at_most=2.05, means="One gather forward, one backward.")
    finding = finding_of([exchange("all-gather", WHOLE)] * times, **bounds)
    assert finding.passed == passed
    if not passed:
        assert f"moves {times * 32} KiB" in finding.message or "moves nothing" in finding.message
        assert "expected between 0.95x and 2.05x" in finding.message
        assert finding.message.endswith("One gather forward, one backward.")


def test_data_may_have_to_come_from_some_leaves_alone():
    """Leaf 0 is `w` and leaf 1 is `x`. One rule counts only data from `w`, the other only data that `x` went into."""
    mine = [exchange("all-gather", WHOLE), exchange("all-gather", WHOLE // 2, depends=(0, 1), carries=())]
    assert finding_of(mine, **rule(only_from=["params"], of="params", at_least=0.95, at_most=1.05)).passed
    finding = finding_of(mine, **rule(not_only_from=["params"], of="params", at_most=0.0))
    assert not finding.passed
    assert "all-gather (line 7) moves 16 KiB, 0.5x the bytes of params (32 KiB)" in finding.message
    assert ", computed from x; expected none." in finding.message


def test_data_from_no_leaf_does_not_come_from_the_leaves():
    finding = finding_of([exchange("all-gather", WHOLE, depends=())], **rule(only_from=["w"], of="w", at_least=0.5))
    assert not finding.passed
    assert not finding_of(
        [exchange("all-gather", WHOLE, depends=())], **rule(not_only_from=["w"], of="w", at_most=0)
    ).passed


def test_a_loss_may_travel_with_the_parameters():
    loss = part(4, (0, 1))
    joined = exchange("all-gather", WHOLE, parts=(part(WHOLE, (0,), (0,)), loss))
    assert finding_of([joined], **rule(not_only_from=["params"], of="params", at_most=0.0)).passed


GRADIENT = {"depends": (0, 1), "carries": (), "outputs": (0,)}
INTO = {"kinds": ["all-reduce", "reduce-scatter"], "of": "params"}
GRADIENTS = [
    Rule(**INTO, into=["params"], each=True, at_least=1.0, at_most=1.0),
    Rule(**INTO, not_into=["params"], at_most=0.0),
]


def test_each_gradient_is_reduced_once_and_a_loss_with_it():
    """Output 0 is the new `w`, and output 1 the loss. XLA may send both in one collective."""
    loss = part(4, (0, 1), (), (1,))
    together = exchange("all-reduce", WHOLE + 4, parts=(part(WHOLE, (0, 1), (), (0,)), loss))
    assert finding_of([together], rules=GRADIENTS).passed
    assert finding_of([exchange("reduce-scatter", WHOLE, **GRADIENT)], rules=GRADIENTS).passed
    twice = finding_of([exchange("all-reduce", WHOLE, **GRADIENT)] * 2, rules=GRADIENTS)
    assert "moves 64 KiB of w, 2x" in twice.message
    assert "move nothing of w" in finding_of([], rules=GRADIENTS).message


@pytest.mark.parametrize(("size", "number", "passed"), [(63, 1, True), (64, 1, False), (32, 2, False)])
def test_what_arrives_in_no_leaf_is_bounded_together(size: int, number: int, passed: bool):
    """A sum of squares for each column is not the gradient of a leaf, however little of the whole it is."""
    other = exchange("all-reduce", size, depends=(0, 1), carries=())
    finding = finding_of([exchange("reduce-scatter", WHOLE, **GRADIENT), *[other] * number], rules=GRADIENTS)
    assert finding.passed == passed
    if not passed:
        assert "reduce-scatter (line 7) move 64 B that do not end up in params; expected none." in finding.message
    names = [limit.name for limit in finding.evidence[0].limits]
    assert names == [f"all-reduce and reduce-scatter for {name}" for name in ("params, w", "nothing in params")]


def test_what_is_small_still_arrives_in_its_leaf():
    """Nothing that a rule looks for is too small to count."""
    mine = [exchange("all-reduce", 16, executions=WHOLE // 16, loops=("while",), **GRADIENT)]
    assert finding_of(mine, ignore_below=2 * WHOLE, rules=GRADIENTS).passed


@pytest.mark.parametrize(("size", "passed"), [(63, True), (64, False)])
def test_padding_over_an_upper_bound_is_ignored_like_other_small_traffic(size: int, passed: bool):
    assert finding_of([exchange("reduce-scatter", WHOLE + size, **GRADIENT)], rules=GRADIENTS).passed == passed


def test_each_leaf_may_be_compared_with_the_reference():
    """A loop of 4 steps reduces each gradient 4 times."""
    of = Rule(**INTO | {"of": "reference"}, into=["params"], each=True, at_least=1.0, at_most=1.0)
    loop = exchange("all-reduce", WHOLE, executions=4, loops=("while",), **GRADIENT)
    assert finding_of([loop], rules=[of]).passed
    finding = finding_of([exchange("all-reduce", WHOLE, **GRADIENT)], reference=[loop], rules=[of])
    assert "moves 32 KiB of w, 0.25x what the reference sends of it (128 KiB); expected 1x." in finding.message
    with pytest.raises(ValueError, match="which name the leaves"):
        Rule(kinds=["all-reduce"], of="reference", each=True)


@pytest.mark.parametrize(("within", "name"), [("loops", "inside"), ("no loop", "outside")])
def test_a_rule_may_count_only_inside_or_outside_of_loops(within: str, name: str):
    inside = exchange("all-gather", WHOLE, loops=("while",))
    mine = [inside, exchange("all-gather", WHOLE)]
    assert finding_of(mine, **rule(within=within, of="w", at_most=1.0)).passed
    finding = finding_of([*mine, *mine], **rule(within=within, of="w", at_most=1.0))
    assert f"all-gather {name} loops (line 7) moves 64 KiB, 2x" in finding.message


def test_slack_of_one_leaf_is_not_spent_by_another():
    """Gathering one leaf twice and the other never moves as many bytes as gathering each once."""
    each = rule(only_from=["*"], of="*", each=True, at_least=0.9, at_most=1.5)
    x_bytes = 24 * 16 * 4
    once = [exchange("all-gather", WHOLE), exchange("all-gather", x_bytes, depends=(1,))]
    assert finding_of(once, **each).passed
    finding = finding_of([exchange("all-gather", WHOLE), exchange("all-gather", WHOLE)], **each)
    assert "moves 64 KiB of w, 2x its bytes (32 KiB)" in finding.message
    finding = finding_of([exchange("all-gather", WHOLE)], **each)
    assert "moves nothing of x" in finding.message


def test_an_array_of_several_leaves_counts_for_each_by_its_size():
    flat = exchange("all-gather", WHOLE + 24 * 16 * 4, depends=(0, 1))
    assert finding_of([flat], **rule(only_from=["*"], of="*", each=True, at_least=1.0, at_most=1.0)).passed


@pytest.mark.parametrize(("executions", "passed"), [(4, True), (2, False)], ids=["a quarter", "a half"])
def test_one_execution_may_have_a_bound(executions: int, passed: bool):
    """The sum is the same, but half of the stack is whole at a time."""
    mine = exchange("all-gather", WHOLE // executions, executions=executions, loops=("while",))
    for bounds in {"of": "params"}, {"of": "*", "only_from": ["*"], "each": True}:
        finding = finding_of([mine], **rule(**bounds, at_once=0.25, means="One layer at a time."))
        assert finding.passed == passed
        limit = finding.evidence[0].limits[-1]
        assert (limit.mine, limit.at_most) == (WHOLE // executions, WHOLE // 4)
        assert limit.name.endswith("in one execution")
        if not passed:
            assert "all-gather (line 7) moves 16 KiB" in finding.message
            assert "in one execution, 0.5x" in finding.message
            assert "expected at most 0.25x. One layer at a time." in finding.message


def test_of_an_execution_that_moves_several_leaves_each_has_its_part():
    """The smaller leaf, `x`, goes with the larger one. Together they are more than either, and each is whole."""
    x_bytes = 24 * 16 * 4
    both = exchange("all-gather", WHOLE + x_bytes, depends=(0, 1))
    assert finding_of([both], **rule(only_from=["*"], of="*", each=True, at_once=1.0)).passed
    assert not finding_of([both], **rule(only_from=["*"], of="*", each=True, at_once=0.9)).passed


def test_a_group_along_no_axis_counts_towards_the_bound_on_an_execution():
    halves = exchange("all-gather", WHOLE, 8, groups=((0, 1, 2, 4), (3, 5, 6, 7)), group_size=4)
    assert not finding_of([halves], **rule(axes=["x"], of="w", at_once=0.5)).passed


def test_an_execution_may_be_compared_with_a_reference_that_sends_nothing():
    finding = finding_of([exchange("all-gather", WHOLE)], [], **rule(of="reference", at_once=1.0))
    assert "moves 32 KiB in one execution; expected at most 1x" in finding.message


def test_without_something_to_compare_with_a_bound_on_an_execution_is_refused():
    with pytest.raises(ValueError, match="at_once"):
        Rule(kinds=["all-gather"], at_once=0.5)


def test_executions_multiply_bytes():
    bounds = rule(of="w", at_most=1.05)
    assert not finding_of([exchange("all-gather", WHOLE, executions=2, loops=("while",))], **bounds).passed


def test_bytes_may_be_compared_with_the_reference():
    bounds = rule(of="reference", at_most=1.05)
    assert finding_of([exchange("all-gather", WHOLE)], **bounds).passed
    finding = finding_of([exchange("all-gather", WHOLE)] * 2, [exchange("all-gather", WHOLE)], **bounds)
    assert "2x what the reference sends this way (32 KiB)" in finding.message
    finding = finding_of([exchange("all-gather", WHOLE)], [], **bounds)
    assert not finding.passed


def test_each_rule_about_bytes_has_its_limit_in_the_evidence():
    rules = [
        Rule(kinds=["all-gather"], axes=["x"], only_from=["params"], of="params", at_least=0.5, at_most=1.5),
        Rule(kinds=["all-gather"], not_only_from=["params"], of="params", at_most=0.0),
        Rule(kinds=["all-reduce"], of="reference", at_least=0.9999),
        Rule(kinds=["all-reduce"], loops="never"),
    ]
    mine = [exchange("all-gather", WHOLE), exchange("all-gather", WHOLE // 2, depends=(1,))]
    (entry,) = finding_of(mine, [exchange("all-reduce", WHOLE)], rules=rules).evidence
    assert entry.limits == [
        Limit(
            name="all-gather over x from params",
            unit="bytes",
            mine=WHOLE,
            reference=0,
            at_least=WHOLE // 2,
            at_most=WHOLE * 3 // 2,
        ),
        Limit(name="all-gather from other data", unit="bytes", mine=WHOLE // 2, reference=0, at_least=None, at_most=0),
        # The smallest number of bytes that is enough.
        Limit(name="all-reduce", unit="bytes", mine=0, reference=WHOLE, at_least=32_765, at_most=None),
    ]


def test_of_a_rule_about_each_leaf_the_limit_is_that_of_the_worst():
    each = rule(only_from=["*"], of="*", each=True, at_least=0.9, at_most=1.5)
    (entry,) = finding_of([exchange("all-gather", WHOLE)], **each).evidence
    assert [(limit.name, limit.mine, limit.reference) for limit in entry.limits] == [("all-gather from *, x", 0, None)]
    x_bytes = 24 * 16 * 4
    (entry,) = finding_of(
        [exchange("all-gather", WHOLE), exchange("all-gather", x_bytes, depends=(1,))], **each
    ).evidence
    assert [(limit.name, limit.mine, limit.at_most) for limit in entry.limits] == [
        ("all-gather from *, w", WHOLE, WHOLE * 3 // 2)
    ]


def test_a_rule_about_executions_has_its_limit_in_the_evidence():
    mine = [exchange("all-gather", WHOLE, executions=3, loops=("while",))]
    (entry,) = finding_of(mine, [], **rule(executions=Count(at_least="x-1", at_most="x"))).evidence
    assert entry.limits == [Limit(name="all-gather", unit="executions", mine=3, reference=0, at_least=7, at_most=8)]


def test_a_group_that_the_reference_does_not_have_is_the_packages_fault():
    with pytest.raises(GraderFault, match="no leaf of that name"):
        finding_of([], **rule(of="nothing", at_most=1))


GRID = {"data": 2, "fsdp": 4}
ROWS = ((0, 1, 2, 3), (4, 5, 6, 7))


@pytest.mark.parametrize(("axes", "passed"), [(["fsdp"], True), (["data"], False), (["data", "fsdp"], False)])
def test_axes_are_read_off_the_groups(axes: list[str], passed: bool):
    mine = [exchange("all-gather", WHOLE, 4, groups=ROWS)]
    found = subject((program(GRID, collectives=mine), program(GRID, collectives=mine)))
    bounds = collectives.Bounds(**rule(axes=axes, of="w", at_least=1))
    assert collectives.check(found, bounds).passed == passed


def test_groups_along_no_axis_do_not_slip_past_an_upper_bound():
    """Halves of one axis: their bytes count towards every upper bound and towards no lower bound."""
    halves = exchange("all-gather", WHOLE, 4, groups=ROWS)
    assert not finding_of([exchange("all-gather", WHOLE), halves], **rule(axes=["x"], of="w", at_most=1.05)).passed
    assert not finding_of([halves], **rule(axes=["x"], of="w", at_least=0.95)).passed


@pytest.mark.parametrize(
    ("loops", "within", "passed"),
    [
        ("never", (), True),
        ("never", ("while",), False),
        ("only", ("while",), True),
        ("only", (), False),
        ("any", (), True),
        ("any", ("while",), True),
    ],
)
def test_a_place_may_be_required(loops: str, within: tuple[str, ...], passed: bool):
    finding = finding_of([exchange("all-gather", WHOLE, loops=within)], **rule(loops=loops))
    assert finding.passed == passed
    if not passed:
        assert ("runs inside a loop" if within else "runs outside a loop") in finding.message


@pytest.mark.parametrize(
    ("count", "number", "passed"),
    [
        ({"at_least": "x-1", "at_most": "x-1"}, 7, True),
        ({"at_least": "x-1"}, 6, False),
        ({"at_most": "x"}, 9, False),
        ({"at_most": "x+7"}, 15, True),
        ({"at_most": "x+7"}, 16, False),
        ({"at_least": 3, "at_most": 3}, 3, True),
        ({"at_least": 3, "at_most": 3}, 4, False),
    ],
)
def test_executions_follow_the_size_of_an_axis(count: dict[str, Any], number: int, passed: bool):
    mine = [exchange("all-gather", WHOLE, executions=number, loops=("while",))]
    finding = finding_of(mine, **rule(executions=Count(**count)))
    assert finding.passed == passed
    assert passed or f"runs {number} times" in finding.message


def test_a_loop_without_a_known_trip_count_is_not_a_way_around_a_bound():
    finding = finding_of([exchange("all-gather", WHOLE, executions=None, loops=("while",))])
    assert not finding.passed
    assert "trip count the compiler does not know" in finding.message


def test_a_rule_broken_on_both_meshes_is_reported_once():
    pairs = [
        (program(mesh, collectives=[exchange("all-gather", WHOLE, size)]),) * 2
        for mesh, size in ((EIGHT, 8), (FOUR, 4))
    ]
    bounds = collectives.Bounds(**rule(of="w", at_most=0))
    finding = collectives.check(subject(*pairs), bounds)
    assert finding.message.count("expected none") == 1
    assert [entry.mesh for entry in finding.evidence] == [EIGHT, FOUR]


def several(*wrong: tuple[int, str]):
    """Two cases of different shapes on each mesh, each with a program; those in `wrong` gather."""
    pairs = []
    for mesh in (EIGHT, FOUR):
        for case in ("public-1", "hidden-2"):
            mine = [exchange("all-gather", WHOLE, mesh["x"])] if (mesh["x"], case) in wrong else []
            pairs.append(Pair(program(mesh, collectives=mine), program(mesh), (case,)))
    return Subject(subject().spec, {}, tuple(pairs), ())


def test_a_line_names_its_case_if_a_mesh_has_several_programs():
    finding = collectives.check(several((8, "hidden-2")), collectives.Bounds(allowed=[]))
    assert finding.message.startswith("On mesh x=8 in hidden-2, the program runs one all-gather")
    assert [(each.mesh, each.cases) for each in finding.evidence][1] == (EIGHT, ["hidden-2"])


def test_each_mesh_is_named_once():
    found = several()
    assert found.places(found.pairs) == "mesh x=8 and mesh x=4"
    assert found.places(found.pairs[1:]) == "mesh x=8 in hidden-2 and mesh x=4"
    assert values.check(found, values.Bounds()).message == "Every case agrees with the reference on x=8 and x=4."


def test_groups_of_two_devices_communicate():
    assert not finding_of([exchange("all-gather", WHOLE, 2)], allowed=[]).passed


def test_collectives_of_which_one_cannot_be_counted_have_no_number():
    unknown = exchange("all-gather", WHOLE, executions=None, loops=("while",))
    another = exchange("all-gather", 2 * WHOLE, executions=None, loops=("while",))
    finding = finding_of([exchange("all-gather", WHOLE), unknown, another], allowed=[])
    assert "the program runs all-gather in a loop (line 7), which this problem does not allow" in finding.message
    assert finding.message.count("trip count the compiler does not know") == 1


def test_a_collective_that_cannot_be_counted_fulfils_no_lower_bound():
    unknown = exchange("all-gather", WHOLE, executions=None, loops=("while",))
    bounds = rule(of="w", at_least=0.9, executions=Count(at_least=1))
    assert "all-gather moves nothing" in finding_of([unknown], **bounds).message
    assert "all-gather never runs" in finding_of([unknown], **rule(executions=Count(at_least=1))).message
    each = rule(only_from=["*"], of="w", each=True, at_least=0.9)
    assert "all-gather moves nothing of w" in finding_of([unknown], **each).message


@pytest.mark.parametrize("sure", [16_384, 20_000], ids=["at the lower bound", "above it"])
def test_bytes_above_an_upper_bound_are_those_that_may_count(sure: int):
    """Those along no axis count towards the upper bound."""
    halves = exchange("all-gather", 40_000, 4, groups=ROWS)
    finding = finding_of([exchange("all-gather", sure), halves], **rule(axes=["x"], of="w", at_least=0.5, at_most=1.05))
    assert f", {(sure + 40_000) / WHOLE:.3g}x the bytes of w" in finding.message


def test_executions_above_an_upper_bound_are_those_that_may_count():
    halves = exchange("all-gather", WHOLE, 4, groups=ROWS)
    count = Count(at_least=1, at_most=1)
    finding = finding_of([exchange("all-gather", WHOLE), halves], **rule(axes=["x"], executions=count))
    assert "runs twice; expected once." in finding.message


@pytest.mark.parametrize(
    ("changes", "passed"),
    [({"executions": 1}, True), ({"executions": 15}, True), ({"executions": 16}, False)],
)
def test_small_data_from_other_leaves_counts_by_all_its_executions(changes: dict[str, Any], passed: bool):
    """A part of 4 bytes that travels with the parameters, as a loss does: 60 bytes are too few to count."""
    joined = exchange("all-gather", WHOLE, parts=(part(WHOLE, (0,), (0,)), part(4, (0, 1))), loops=("w",), **changes)
    assert finding_of([joined], **rule(not_only_from=["params"], of="params", at_most=0.0)).passed == passed


@pytest.mark.parametrize(("size", "counts"), [(63, False), (64, True)])
def test_data_of_an_unknown_number_of_executions_counts_as_if_it_ran_once(size: int, counts: bool):
    parts = (part(WHOLE, (0,), (0,)), part(size, (0, 1)))
    joined = exchange("all-gather", WHOLE, parts=parts, executions=None, loops=("while",))
    finding = finding_of([joined], **rule(not_only_from=["params"], loops="never"))
    assert ("runs inside a loop" in finding.message) == counts


def test_the_largest_collective_and_its_largest_array_are_described():
    small = exchange("all-gather", 1_000, depends=(0,), source_line=3)
    parts = (part(100, (0,)), part(WHOLE, (1,)))
    large = exchange("all-gather", WHOLE, parts=parts, source_line=5)
    finding = finding_of([small, large], **rule(only_from=["*"], of="w", at_most=0.5))
    assert "all-gather (line 5) moves" in finding.message
    assert "computed from x;" in finding.message


def test_the_line_is_that_of_the_array_which_is_described():
    parts = (part(4, (0,), line=5), part(WHOLE, (1,), line=9))
    merged = exchange("all-gather", WHOLE + 4, parts=parts, source_line=5)
    assert "all-gather (line 9) moves" in finding_of([merged], **rule(only_from=["*"], of="w", at_most=0.5)).message


@pytest.mark.parametrize(("count", "names"), [(3, "a, b, c;"), (4, "a, b, c and 1 more;"), (5, "a, b, c and 2 more;")])
def test_three_leaves_are_named(count: int, names: str):
    leaf, loss = split((512, 16), 8), program(EIGHT).facts.outputs[1]
    state = tuple("abcde"[:count])
    gathered = exchange("all-gather", WHOLE, depends=tuple(range(count)), carries=())
    made = program(EIGHT, collectives=[gathered])
    facts = replace(made.facts, inputs=(leaf,) * count + (made.facts.inputs[1],), outputs=(leaf,) * count + (loss,))
    mine = replace(made, facts=facts, state=state, outputs=(*state, "loss"))
    finding = collectives.check(subject((mine, mine)), collectives.Bounds(**rule(only_from=["*"], of="a", at_most=0.5)))
    assert f"computed from {names}" in finding.message


def test_small_totals_are_exact():
    assert finding_of([exchange("all-reduce", 100)]).message == "On mesh x=8: all-reduce 100 B."


def test_a_rule_about_an_unknown_group_is_the_packages_fault():
    with pytest.raises(GraderFault, match="no leaf of that name"):
        finding_of([exchange("all-gather", WHOLE)], **rule(only_from=["nothing"], of="w", at_most=1))
