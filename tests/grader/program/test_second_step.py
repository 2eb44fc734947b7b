"""Programs of two steps, exported as the runner exports them."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from grader.program.second_step import is_traced_again
from grader.program.tokens import ProgramUnreadable, Tokens, cut_mlir
from tests.growth import assert_linear, assert_linear_in_c

Step = Callable[..., tuple[jax.Array, ...]]


def texts(step: Step, count: jax.Array, kind: AxisType = AxisType.Auto) -> tuple[Tokens, str]:
    """The tokens of a step of a matrix and a counter, and the text of two steps."""
    mesh = Mesh(jax.devices()[:1], ("x",), axis_types=(kind,))
    with jax.set_mesh(mesh):
        avals = [
            jax.ShapeDtypeStruct((8, 4), jnp.float32, sharding=NamedSharding(mesh, P("x"))),
            jax.ShapeDtypeStruct((), count.dtype, sharding=NamedSharding(mesh, P()), weak_type=count.aval.weak_type),
            jax.ShapeDtypeStruct((6, 8), jnp.float32, sharding=NamedSharding(mesh, P("x"))),
        ]
        jitted = jax.jit(step, donate_argnums=(0, 1), keep_unused=True)

        def twice(w: jax.Array, n: jax.Array, x: jax.Array) -> tuple[jax.Array, ...]:
            w, n, loss = jitted(w, n, x)
            return (*jitted(w, n, x), loss)

        one, two = (jax.export.export(each)(*avals) for each in (jitted, jax.jit(twice, keep_unused=True)))
    return cut_mlir(one.mlir_module()), two.mlir_module()


def step(w: jax.Array, n: jax.Array, x: jax.Array) -> tuple[jax.Array, ...]:
    loss, gradient = jax.value_and_grad(lambda w: jnp.mean(jax.nn.relu(jnp.dot(x, w))))(w)
    return w - 0.1 * gradient, n + jnp.int32(1), loss


STRONG, WEAK = jnp.int32(0), jnp.asarray(0)


def test_a_state_of_one_type_is_traced_once():
    assert WEAK.aval.weak_type
    assert not is_traced_again(*texts(step, STRONG), 2)


def test_a_weak_type_that_becomes_strong_is_traced_again():
    assert is_traced_again(*texts(step, WEAK), 2)


def test_on_explicit_axes_a_sharding_that_changes_is_traced_again():
    def unsharded(w: jax.Array, n: jax.Array, x: jax.Array) -> tuple[jax.Array, ...]:
        return jax.sharding.reshard(w, P()), n, jnp.sum(x)

    def as_it_was(w: jax.Array, n: jax.Array, x: jax.Array) -> tuple[jax.Array, ...]:
        return w + 1.0, n, jnp.sum(x)

    assert is_traced_again(*texts(unsharded, STRONG, AxisType.Explicit), 2)
    assert not is_traced_again(*texts(as_it_was, STRONG, AxisType.Explicit), 2)


def test_a_constraint_on_what_a_step_returns_is_followed():
    """As the next JAX writes it on Explicit axes."""
    one, two = texts(step, STRONG)
    was, now = (
        "%1:3 = call @step(%0#0, %0#1, ",
        "%9 = sdy.sharding_constraint %0#0 <@mesh, [{}, {}]> : tensor<8x4xf32>\n    ",
    )
    assert not is_traced_again(one, two.replace(was, f"{now}{was.replace('%0#0', '%9')}"), 2)
    with pytest.raises(ProgramUnreadable, match="does not get the state of the first"):
        is_traced_again(one, two.replace(was, f"{now}{was.replace('%0#1', '%9')}"), 2)


def test_without_a_program_of_two_steps_it_is_traced_again():
    assert is_traced_again(texts(step, STRONG)[0], "", 2)


def other(w: jax.Array, n: jax.Array, x: jax.Array) -> tuple[jax.Array, ...]:
    w, n, loss = step(w, n, x)
    return w * 2.0, n, loss


def rectified_at_one(w: jax.Array, n: jax.Array, x: jax.Array) -> tuple[jax.Array, ...]:
    def rectified(v: jax.Array) -> jax.Array:
        return jnp.where(v > 1.0, v, 0.0)

    rectified.__name__ = "relu"
    loss, gradient = jax.value_and_grad(lambda w: jnp.mean(jax.jit(rectified)(jnp.dot(x, w))))(w)
    return w - 0.1 * gradient, n + jnp.int32(1), loss


@pytest.mark.parametrize("another", [other, rectified_at_one])
def test_the_function_that_is_called_twice_must_be_the_step(another: Step):
    one, _ = texts(step, STRONG)
    _, two = texts(another, STRONG)
    with pytest.raises(ProgramUnreadable, match="does not call the step that is graded"):
        is_traced_again(one, two, 2)


@pytest.mark.parametrize(
    ("was", "now", "message"),
    [
        ("(%0#0, %0#1, %arg2)", "(%arg0, %arg1, %arg2)", "does not get the state of the first"),
        ("(%0#0, %0#1, %arg2)", "(%0#1, %0#0, %arg2)", "does not get the state of the first"),
        ("call @step(%arg0, %arg1, %arg2)", "call @step(%arg1, %arg0, %arg2)", "does not call the step twice"),
        ("%1:3 = call", "%2 = stablehlo.constant dense<0> : tensor<i32>\n%1:3 = call", "other operations than calls"),
        ("%1:3 = call @step(%0#0, %0#1, %arg2)", "%1", "other operations than calls"),
        ("%1:3 = call @step(%0#0, %0#1, %arg2)", "%1 =", "other operations than calls"),
        ("%1:3 = call @step(%0#0, %0#1, %arg2)", "%1:", "other operations than calls"),
        ("%0:3 = call", "%0 = call", "does not get the state of the first"),
        ("func.func private @step(", "func.func private @main(", "a function with a name of its own"),
        ("func.func public @main(", "func.func public @first(", "no function `main`"),
    ],
)
def test_a_program_that_is_not_two_steps_is_refused(was: str, now: str, message: str):
    one, two = texts(step, STRONG)
    assert was in two
    with pytest.raises(ProgramUnreadable, match=message):
        is_traced_again(one, two.replace(was, now), 2)


@pytest.mark.parametrize(
    "end", ["func.func public @main(", "call @step(", "call @step(%0#0, %0#1", "stablehlo.subtract"]
)
def test_a_text_that_ends_early_is_refused(end: str):
    one, two = texts(step, STRONG)
    with pytest.raises(ProgramUnreadable):
        is_traced_again(one, two[: two.index(end) + len(end)], 2)


def test_a_number_of_results_that_nobody_could_write_takes_no_memory():
    one, two = texts(step, STRONG)
    assert not is_traced_again(one, two.replace("%0:3 = call", "%0:9999999999999999999 = call"), 2)


@pytest.mark.serial
def test_reading_many_calls_takes_linear_work():
    one, two = texts(step, STRONG)
    head, call = two.split("    %0:3 = call")[0], "    %0:3 = call @step(%arg0, %arg1, %arg2) : () -> ()\n"

    def read(text: str) -> None:
        with pytest.raises(ProgramUnreadable, match="does not call the step twice"):
            is_traced_again(one, text, 2)

    assert_linear(read, lambda size: f"{head}{call * (size // len(call))}  }}\n}}\n", 1 << 15)
    assert_linear_in_c(read, lambda size: f"{head}{call * (size // len(call))}  }}\n}}\n", 1 << 18)
