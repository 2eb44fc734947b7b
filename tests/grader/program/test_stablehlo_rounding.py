"""Arguments that reach an output only after a conversion, in StableHLO written by hand and as JAX writes it."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from grader.program.stablehlo import read_stablehlo
from grader.program.tokens import ProgramUnreadable

WIDE, NARROW = "tensor<4xf32>", "tensor<4xbf16>"


def narrow(value: jax.Array) -> jax.Array:
    return value.astype(jnp.bfloat16).astype(jnp.float32)


def written(function: Any) -> tuple[tuple[int, int], ...]:
    """The rounded pairs of a function of `p`, `m` and `g`, arguments 0, 1 and 2, each of 4 numbers."""
    array = jax.ShapeDtypeStruct((4,), np.float32)
    return read_stablehlo(jax.jit(function).lower(array, array, array).as_text()).rounded


def scanned(p: jax.Array, m: jax.Array) -> jax.Array:
    return jax.lax.scan(lambda carry, _: (narrow(carry) + m, None), p, None, 3)[0]


@pytest.mark.parametrize(
    ("function", "rounded"),
    [
        (lambda p, m, g: (p - m, 0.9 * m + g), ()),
        (lambda p, m, g: (p - m, 0.9 * narrow(m) + g), ((1, 1),)),
        (lambda p, m, g: (p - m, 0.9 * jax.lax.reduce_precision(m, 8, 7) + g), ((1, 1),)),
        (lambda p, m, g: (narrow(p) - m, m), ((0, 0),)),
        (lambda p, m, g: (p - narrow(m), m), ((0, 1),)),
        # A copy that is rounded beside the leaf itself loses nothing, nor does what is widened first.
        (lambda p, m, g: (p - 0.1 * narrow(p), m.astype(jnp.float16)), ((1, 1),)),
        (lambda p, m, g: (p - g * jnp.dot(narrow(m), g), m), ()),
        (lambda p, m, g: (p - jnp.sum(narrow(m)), m), ()),
        (lambda p, m, g: (jnp.where(narrow(m) > 0, p, g), m), ()),
        (lambda p, m, g: (scanned(p, m), m), ((0, 0),)),
        (lambda p, m, g: (jax.lax.cond(g[0] > 0, narrow, narrow, p), m), ((0, 0),)),
        (lambda p, m, g: (jax.lax.cond(g[0] > 0, narrow, jnp.negative, p), m), ((0, 0),)),
        (lambda p, m, g: jax.lax.optimization_barrier((narrow(p), m)), ((0, 0),)),
        (
            lambda p, m, g: (
                jax.lax.bitcast_convert_type(
                    jax.lax.bitcast_convert_type(p, jnp.uint32) & jnp.uint32(0xFFFF0000), jnp.float32
                ),
                m,
            ),
            ((0, 0),),
        ),
    ],
    ids=[
        "exact", "momentum", "reduce_precision", "parameter", "update", "copy", "product", "sum", "mask", "loop",
        "both branches", "one branch", "barrier", "bits",
    ],
)  # fmt: skip
def test_only_what_is_rounded_on_its_way_counts(function: Any, rounded: tuple[tuple[int, int], ...]) -> None:
    assert written(function) == rounded


@pytest.mark.parametrize(
    "momentum",
    [
        lambda m, g: 0.9 * narrow(m) + g + 0 * m,
        lambda m, g: 0.9 * jnp.concatenate([narrow(m[:3]), m[3:]]) + g,
        lambda m, g: m.at[:3].set(narrow(m[:3])) + g,
        lambda m, g: jnp.where(g > 0, narrow(m), m) + g,
        lambda m, g: jax.lax.fori_loop(0, 3, lambda i, new: new.at[i].set(narrow(new)[i]), m) + g,
        lambda m, g: jnp.sum(narrow(m)[None], axis=0) + g,
        lambda m, g: jnp.mean(jnp.stack([narrow(m), g]), axis=0),
        lambda m, g: jnp.sum(jnp.stack([jax.lax.reduce_precision(m, 8, 7), g]), axis=0),
        lambda m, g: narrow(m) @ jnp.eye(4) + g,
        lambda m, g: jnp.round(m * 256) / 256 + g,
    ],
    ids=[
        "times zero",
        "joined",
        "put",
        "chosen",
        "one by one",
        "of one",
        "stacked",
        "cut and stacked",
        "unit matrix",
        "fixed point",
    ],
)
def test_digits_that_some_elements_lose_count_however_they_are_put_together(momentum: Any) -> None:
    assert written(lambda p, m, g: (p, momentum(m, g))) == ((1, 1),)


@pytest.mark.parametrize(
    "new",
    [
        lambda p, m, g: jnp.sum(jnp.stack([p, -0.1 * narrow(p), g]), axis=0),
        lambda p, m, g: p.at[:2].add(narrow(p)[:2]),
        lambda p, m, g: jnp.where(narrow(m) > 0, p, p + g),
        # A bias's gradient is a sum over rows, and so contains no parameter of which each row was computed.
        lambda p, m, g: p - jnp.sum(jnp.broadcast_to(narrow(m), (6, 4)) - 1, axis=0),
        lambda p, m, g: p - jnp.sum(jnp.stack([narrow(m), g]) * jnp.stack([g, g]), axis=0),
    ],
    ids=["stacked beside itself", "added to itself", "choice", "rows", "data as factors"],
)
def test_a_rounded_copy_beside_the_leaf_or_in_a_gradient_loses_nothing(new: Any) -> None:
    assert written(lambda p, m, g: (new(p, m, g), m)) == ()


def test_a_shard_map_and_the_functions_in_it_are_entered() -> None:
    text = f"""module {{
func.func public @main(%arg0: {WIDE}, %arg1: {WIDE}) -> ({WIDE}, {WIDE}) {{
  %0:2 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{{"x"}}]>, <@mesh, [{{"x"}}]>]
    out_shardings=[<@mesh, [{{"x"}}]>, <@mesh, [{{"x"}}]>] manual_axes={{"x"}} (%arg2: {WIDE}, %arg3: {WIDE}) {{
    %1 = func.call @narrow(%arg3) : ({WIDE}) -> {WIDE}
    sdy.return %arg2, %1 : {WIDE}, {WIDE}
  }} : ({WIDE}, {WIDE}) -> ({WIDE}, {WIDE})
  return %0#0, %0#1 : {WIDE}, {WIDE}
}}
func.func private @narrow(%arg0: {WIDE}) -> {WIDE} {{
  %0 = stablehlo.convert %arg0 : ({WIDE}) -> {NARROW}
  %1 = stablehlo.convert %0 : ({NARROW}) -> {WIDE}
  return %1 : {WIDE}
}}
}}"""
    assert read_stablehlo(text).rounded == ((1, 1),)


@pytest.mark.parametrize(
    "turn",
    [
        lambda m: jnp.roll(m, 2),
        lambda m: jnp.concatenate([m, m])[:4],
        lambda m: jnp.concatenate([m, m])[::2],
        lambda m: jnp.sum(jnp.stack([m, m]), axis=0),
        lambda m: jax.lax.pad(jnp.concatenate([m, m]), jnp.float32(0), [(0, -4, 0)]),
    ],
)
def test_a_loop_that_stacks_in_each_round_comes_to_an_end(turn: Any) -> None:
    exact, rounded = (
        written(lambda p, m, g, first=first: (p, jax.lax.fori_loop(0, 9, lambda _, new: turn(new), first(m)) + g))
        for first in (jnp.negative, narrow)
    )
    assert (exact, rounded) == ((), ((1, 1),))


def test_a_size_that_is_no_number_and_a_long_constant_end_nothing() -> None:
    reduced = f"(tensor<?xf32>, tensor<f32>) -> {WIDE}"
    text = f"""module {{
func.func public @main(%arg0: {WIDE}) -> {WIDE} {{
  %cst = stablehlo.constant dense<[{", ".join(["0.0"] * 4)}]> : {WIDE}
  %init = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.concatenate %arg0, %cst, dim = 0 : ({WIDE}, tensor<{"9" * 5_000}xf32>) -> tensor<?xf32>
  %1 = stablehlo.reduce(%0 init: %init) applies stablehlo.add across dimensions = [0] : {reduced}
  %2 = stablehlo.add %1, %arg0 : {WIDE}
  return %2 : {WIDE}
}}
}}"""
    assert read_stablehlo(text).rounded == ()


def test_functions_that_unfold_without_end_are_refused() -> None:
    text = f"""module {{
func.func public @main(%arg0: {WIDE}) -> {WIDE} {{
  %0 = func.call @main(%arg0) : ({WIDE}) -> {WIDE}
  return %0 : {WIDE}
}}
}}"""
    with pytest.raises(ProgramUnreadable, match="deep"):
        read_stablehlo(text)
