"""Collectives that take turns with a product of their round, in StableHLO written by hand."""

import pytest

from grader.program.stablehlo import read_stablehlo
from grader.program.tokens import ProgramUnreadable

ROWS, WEIGHT, SHARD = "tensor<4x8xf32>", "tensor<8x8xf32>", "tensor<1x8xf32>"
GATHER = f'"stablehlo.all_gather"(%{{0}}) <{{{{all_gather_dim = 0 : i64}}}}> : ({SHARD}) -> {WEIGHT}'
PRODUCT = f"stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] : ({ROWS}, {WEIGHT}) -> {ROWS}"
BARRIER = f"stablehlo.optimization_barrier %{{0}}, %{{1}} : {ROWS}, {SHARD}"


def in_loop(*lines: str, functions: str = "") -> tuple[str, ...]:
    """The turns of a loop whose body has `%h`, `%w` and `%s`, and returns `%new` and `%next`."""
    body = "\n".join((*lines, f"stablehlo.return %new, %next, %s : {ROWS}, {WEIGHT}, {SHARD}"))
    text = f"""module {{
func.func public @main(%arg0: {ROWS}, %arg1: {WEIGHT}, %arg2: {SHARD}) -> {ROWS} {{
  %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : ({ROWS}, {WEIGHT}) -> {ROWS}
  %1:3 = stablehlo.while(%h = %0, %w = %arg1, %s = %arg2) : {ROWS}, {WEIGHT}, {SHARD}
  cond {{
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    {body}
  }}
  return %1#0 : {ROWS}
}}
{functions}
}}"""
    return read_stablehlo(text).turns


P = f"%p = {PRODUCT}"
NEW, NEXT = f"%new = {PRODUCT}", f"%next = {GATHER.format('s')}"
# Of a pair `%t` that a barrier ties together.
ROWS_OF_PAIR, GATHER_OF_PAIR = f"%new = stablehlo.tanh %t#0 : {ROWS}", f"%next = {GATHER.format('t#1')}"
PRODUCT_OF_PAIR = NEW.replace("%h", "%t#0")
TIED = f"%t:2 = {BARRIER.format('p', 's')}"
CALL = f"%t:2 = func.call @NAME(%p, %s) : ({ROWS}, {SHARD}) -> ({ROWS}, {SHARD})"
CONSTRAINT = f"sdy.sharding_constraint %VALUE <@mesh, [SHARDING]> : {SHARD}"
WHOLE = "%next = " + CONSTRAINT.replace("VALUE", "t#1").replace("SHARDING", "{}, {}")
IN_ROWS = "%next = " + CONSTRAINT.replace("VALUE", "new").replace("SHARDING", '{"x"}, {}')


@pytest.mark.parametrize(
    ("lines", "turns"),
    [
        ((NEW, NEXT), ()),
        # Plain data: the product's weight was gathered in this round, or the gather takes the product's rows.
        ((NEXT, NEW.replace("%w", "%next")), ("all-gather",)),
        ((NEW, f"%next = {GATHER.format('new')}"), ("all-gather",)),
        # Nothing in the round comes before what it began with.
        ((f"%t:2 = {BARRIER.format('h', 's')}", PRODUCT_OF_PAIR, GATHER_OF_PAIR), ()),
        ((P, TIED, ROWS_OF_PAIR, GATHER_OF_PAIR), ("all-gather",)),
        ((NEXT, f"%t:2 = {BARRIER.format('h', 'next')}", PRODUCT_OF_PAIR), ("all-gather",)),
        # Tied together only where the round ends.
        (
            (
                P,
                f"%g = {GATHER.format('s')}",
                f"%t:2 = {BARRIER.format('p', 'g')}",
                ROWS_OF_PAIR,
                f"%next = stablehlo.tanh %t#1 : {WEIGHT}",
            ),
            (),
        ),
        # The partitioner gathers for a sharding without axes.
        ((P, TIED, ROWS_OF_PAIR, WHOLE), ("all-gather",)),
        ((NEW, IN_ROWS), ()),
        ((P, CALL.replace("NAME", "tied"), ROWS_OF_PAIR, GATHER_OF_PAIR), ("all-gather",)),
        ((P, CALL.replace("NAME", "apart"), ROWS_OF_PAIR, GATHER_OF_PAIR), ()),
    ],
    ids="ahead used needed begins waits kept ends constraint rows called passed".split(),
)
def test_a_barrier_makes_one_wait_for_the_other(lines: tuple[str, ...], turns: tuple[str, ...]) -> None:
    functions = f"""
func.func private @tied(%a: {ROWS}, %b: {SHARD}) -> ({ROWS}, {SHARD}) {{
  %r:2 = {BARRIER.format("a", "b")}
  return %r#0, %r#1 : {ROWS}, {SHARD}
}}
func.func private @apart(%a: {ROWS}, %b: {SHARD}) -> ({ROWS}, {SHARD}) {{
  return %a, %b : {ROWS}, {SHARD}
}}"""
    assert in_loop(*lines, functions=functions) == turns


def test_an_inner_loop_counts_as_one_operation() -> None:
    inner = f"""%p = stablehlo.while(%k = %h) : {ROWS}
  cond {{ %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1> }} do {{
    %q = {PRODUCT.replace("%h", "%k")}
    stablehlo.return %q : {ROWS}
  }}"""
    tied = f"%t:2 = {BARRIER.format('p', 's')}", "%new = stablehlo.tanh %t#0 : " + ROWS
    assert in_loop(inner, *tied, f"%next = {GATHER.format('t#1')}") == ("all-gather",)
    assert in_loop(inner, "%new = stablehlo.tanh %p : " + ROWS, f"%next = {GATHER.format('s')}") == ()


def test_outside_of_loops_there_are_no_rounds() -> None:
    text = f"""module {{
func.func public @main(%h: {ROWS}, %w: {WEIGHT}, %s: {SHARD}) -> {WEIGHT} {{
  %p = {PRODUCT}
  %t:2 = {BARRIER.format("p", "s")}
  %g = {GATHER.format("t#1")}
  return %g : {WEIGHT}
}}
}}"""
    assert read_stablehlo(text).turns == ()


def test_functions_that_call_themselves_are_refused() -> None:
    text = """module {
func.func public @main(%a: tensor<f32>) -> tensor<f32> {
  %0 = func.call @main(%a) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
}"""
    with pytest.raises(ProgramUnreadable, match="call one another"):
        read_stablehlo(text)
