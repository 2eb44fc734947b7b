"""Which collectives in a loop take turns with the matrix products of the same round, in HLO written by hand."""

import pytest

from grader.program.census import take_census
from grader.program.collectives import Collective
from tests.grader.program.handwritten_hlo import module

CONDITION = """
%condition (p: (f32[16,4], f32[16,4])) -> pred[] {
  %p = (f32[16,4], f32[16,4]) parameter(0)
  ROOT %go = pred[] constant(true)
}
%fused (a: f32[16,4]) -> f32[16,4] {
  %a = f32[16,4] parameter(0)
  ROOT %cast = f32[16,4] negate(%a)
}
%multiplied (a: f32[16,4]) -> f32[16,4] {
  %a = f32[16,4] parameter(0)
  %k = f32[4,4] constant({...})
  ROOT %inner = f32[16,4] dot(%a, %k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
%gathered (a: f32[16,4]) -> f32[16,4] {
  %a = f32[16,4] parameter(0)
  ROOT %sum = f32[16,4] all-reduce(%a), replica_groups={}, channel_id=1, to_apply=%add
}
"""
GATHER = "all-reduce({}), replica_groups={{}}, channel_id=1, to_apply=%add"
PRODUCT = "dot({}, %k), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"


def collectives(*body: str, root: str = "%h, %w") -> tuple[Collective, ...]:
    """The collectives in a body whose carry is (%h, %w)."""
    lines = "\n".join(f"  {line}" for line in body)
    loop = f"""{CONDITION}
%body (p: (f32[16,4], f32[16,4])) -> (f32[16,4], f32[16,4]) {{
  %p = (f32[16,4], f32[16,4]) parameter(0)
  %h = f32[16,4] get-tuple-element(%p), index=0
  %w = f32[16,4] get-tuple-element(%p), index=1
  %k = f32[4,4] constant({{...}})
{lines}
  ROOT %next = (f32[16,4], f32[16,4]) tuple({root})
}}
"""
    start = "%start = (f32[16,4], f32[16,4]) tuple(%p, %p)"
    run = (
        "%run = (f32[16,4], f32[16,4]) while(%start), condition=%condition, body=%body, "
        'backend_config={"known_trip_count":{"n":"3"}}'
    )
    return take_census(module(start, run, before=loop), 8).collectives


@pytest.mark.parametrize(
    ("body", "root", "expected"),
    [
        pytest.param(
            (f"%g = f32[16,4] {GATHER.format('%w')}", f"%d = f32[16,4] {PRODUCT.format('%h')}"),
            "%d, %g",
            False,
            id="the-product-uses-what-was-carried",
        ),
        pytest.param(
            (f"%g = f32[16,4] {GATHER.format('%w')}", f"%d = f32[16,4] {PRODUCT.format('%g')}"),
            "%d, %w",
            True,
            id="the-product-uses-it",
        ),
        pytest.param(
            (f"%d = f32[16,4] {PRODUCT.format('%h')}", f"%g = f32[16,4] {GATHER.format('%d')}"),
            "%g, %w",
            True,
            id="it-moves-a-product",
        ),
        pytest.param(
            (
                f"%g = f32[16,4] {GATHER.format('%w')}",
                "%cast = f32[16,4] fusion(%g), kind=kLoop, calls=%fused",
                "%d = f32[16,4] fusion(%cast), kind=kOutput, calls=%multiplied",
            ),
            "%d, %w",
            True,
            id="through-fusions",
        ),
        pytest.param(
            (
                f"%g = f32[16,4] {GATHER.format('%w')}",
                "%both = (f32[16,4], f32[16,4]) tuple(%g, %h)",
                "%held = (f32[16,4], f32[16,4]) opt-barrier(%both)",
                "%later = f32[16,4] get-tuple-element(%held), index=1",
                f"%d = f32[16,4] {PRODUCT.format('%later')}",
            ),
            "%d, %g",
            True,
            id="a-barrier-makes-the-product-wait",
        ),
        pytest.param(
            ("%g = f32[16,4] call(%w), to_apply=%gathered", f"%d = f32[16,4] {PRODUCT.format('%g')}"),
            "%d, %w",
            True,
            id="out-of-a-call",
        ),
        pytest.param(
            (f"%d = f32[16,4] {PRODUCT.format('%h')}", "%g = f32[16,4] call(%d), to_apply=%gathered"),
            "%g, %w",
            True,
            id="into-a-call",
        ),
        pytest.param(
            ("%g = f32[16,4] call(%w), to_apply=%gathered", f"%d = f32[16,4] {PRODUCT.format('%h')}"),
            "%d, %g",
            False,
            id="beside-a-call",
        ),
    ],
)
def test_a_collective_takes_turns_with_products_of_its_own_round(
    body: tuple[str, ...], root: str, expected: bool
) -> None:
    assert [each.takes_turns for each in collectives(*body, root=root)] == [expected]


def test_outside_loops_nothing_takes_turns() -> None:
    lines = (
        f"%g = f32[16,4] {GATHER.format('%p')}",
        "%k = f32[4,4] constant({...})",
        f"%d = f32[16,4] {PRODUCT.format('%g')}",
    )
    assert [each.takes_turns for each in take_census(module(*lines), 8).collectives] == [False]


@pytest.mark.parametrize(
    ("body", "root", "expected"),
    [
        pytest.param((f"%g = f32[16,4] {GATHER.format('%w')}",), "%h, %g", False, id="none"),
        pytest.param(
            (f"%g = f32[16,4] {GATHER.format('%w')}", f"%d = f32[16,4] {PRODUCT.format('%h')}"),
            "%d, %g",
            True,
            id="in-the-body",
        ),
        pytest.param(
            ("%g = f32[16,4] call(%w), to_apply=%gathered", "%d = f32[16,4] call(%h), to_apply=%multiplied"),
            "%d, %g",
            True,
            id="both-in-calls",
        ),
        pytest.param(("%g = f32[16,4] call(%w), to_apply=%gathered",), "%h, %g", False, id="none-around-a-call"),
    ],
)
def test_a_round_may_have_products_beside_a_collective(body: tuple[str, ...], root: str, expected: bool) -> None:
    assert [each.beside_products for each in collectives(*body, root=root)] == [expected]


def test_products_outside_the_innermost_loop_are_not_beside_a_collective() -> None:
    """A product in the entry runs before or after the whole loop."""
    loop = """
%condition (p: f32[16,4]) -> pred[] {
  %p = f32[16,4] parameter(0)
  ROOT %go = pred[] constant(true)
}
%body (p: f32[16,4]) -> f32[16,4] {
  %p = f32[16,4] parameter(0)
  ROOT %g = f32[16,4] all-reduce(%p), replica_groups={}, channel_id=1, to_apply=%add
}
"""
    lines = (
        '%run = f32[16,4] while(%p), condition=%condition, body=%body, backend_config={"known_trip_count":{"n":"3"}}',
        "%k = f32[4,4] constant({...})",
        f"%d = f32[16,4] {PRODUCT.format('%run')}",
    )
    [found] = take_census(module(*lines, before=loop), 8).collectives
    assert (found.loops != (), found.beside_products) == (True, False)
