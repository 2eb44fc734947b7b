"""The numbers of the lesson, measured on 8 host devices."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from grader.program.census import take_census
from tests.lessons.errors import error_of

_MESH = Mesh(jax.devices(), ("x",))
_WEIGHT = jnp.float32(3)
_ROWS = jnp.arange(1.0, 9.0)
_EQUAL, _VARYING = P(), P("x")
Body = Callable[[jax.Array, jax.Array], jax.Array]


def _loss(weight: jax.Array, rows: jax.Array) -> jax.Array:
    """The loss of one device."""
    return jnp.mean(weight * rows)


def _own_gradient(weight: jax.Array, rows: jax.Array) -> jax.Array:
    return jax.grad(_loss)(weight, rows)


def _mean_of_equals(weight: jax.Array, rows: jax.Array) -> jax.Array:
    return lax.pmean(_own_gradient(weight, rows), "x")


def _right() -> float:
    """The gradient on one device with all rows."""
    return float(jax.grad(_loss)(_WEIGHT, _ROWS))


def _program(body: Body, out: P = _EQUAL, mesh: Mesh = _MESH, *, check: bool = True) -> Body:
    return jax.jit(jax.shard_map(body, mesh=mesh, in_specs=(_EQUAL, _VARYING), out_specs=out, check_vma=check))


def _times(body: Body) -> int:
    return _ratio(float(_program(body)(_WEIGHT, _ROWS)), _right())


def _ratio(value: float, right: float) -> int:
    """The ratio, which must be a whole number."""
    ratio = value / right
    assert ratio == round(ratio)
    return round(ratio)


def _all_reduces(body: Body) -> int:
    text = _program(body).lower(_WEIGHT, _ROWS).compile().as_text()
    return sum(each.kind == "all-reduce" for each in take_census(text, _MESH.size).collectives)


def _step_times(optimizer: optax.GradientTransformation) -> float:
    """The first step for a gradient that is a sum over devices, over the one for the mean."""
    steps = []
    for gradient in (_right() * _MESH.size, _right()):
        step, _ = optimizer.update(jnp.float32(gradient), optimizer.init(_WEIGHT))
        steps.append(float(step))
    return steps[0] / steps[1]


def devices():
    """The devices of the mesh."""
    return _MESH.size, "devices"


def right():
    """The gradient of the mean loss over all rows, on one device."""
    return _right(), ""


def varying_error():
    """The error of shard_map for a loss that varies, with out_specs=P()."""
    return error_of(
        lambda: _program(_loss)(_WEIGHT, _ROWS),
        "out_specs which require replication which can't be statically inferred",
    ), ""


def unchecked_loss():
    """The loss that shard_map returns for out_specs=P() with check_vma=False."""
    return float(_program(_loss, check=False)(_WEIGHT, _ROWS)), ""


def batch_loss():
    """The mean loss over all rows, on one device."""
    return float(_loss(_WEIGHT, _ROWS)), ""


def grad_times():
    """grad of the device's loss, for a weight in P(), over the right gradient."""
    return _times(_own_gradient), "times"


def pmean_times():
    """pmean of that gradient, over the right one."""
    return _times(_mean_of_equals), "times"


def psum_times():
    """psum of that gradient, over the right one."""
    return _times(lambda weight, rows: lax.psum(_own_gradient(weight, rows), "x")), "times"


def pmap_reduces():
    """The all_reduces of a pmap step that takes pmean of its gradient, as many as in jit with a sharded batch.

    Both have the right gradient.
    """
    mapped = jax.pmap(
        lambda weight, rows: lax.pmean(_own_gradient(weight, rows), "x"), axis_name="x", in_axes=(None, 0)
    )
    jitted = jax.jit(jax.grad(_loss), in_shardings=(NamedSharding(_MESH, _EQUAL), NamedSharding(_MESH, _VARYING)))
    found = set()
    for step, rows in ((mapped, _ROWS[:, None]), (jitted, _ROWS)):
        assert np.unique(step(_WEIGHT, rows)).tolist() == [_right()]
        text = step.lower(_WEIGHT, rows).compile().as_text()
        found.add(sum(each.kind == "all-reduce" for each in take_census(text, _MESH.size).collectives))
    (reduces,) = found
    return reduces, "all_reduce"


def pmap_error():
    """The error of pmap for a flat batch of twice as many rows as devices."""
    mapped = jax.pmap(_own_gradient, in_axes=(None, 0))
    return error_of(
        lambda: mapped(_WEIGHT, jnp.concatenate([_ROWS, _ROWS])),
        "cannot select an axis to squeeze out which has size not equal to one",
    ), ""


def grad_times_on_four():
    """grad of the device's loss on a mesh of 4 devices with two rows each, over the right gradient."""
    mesh = Mesh(np.array(jax.devices()[:4]), ("x",))
    return _ratio(float(_program(_own_gradient, mesh=mesh)(_WEIGHT, _ROWS)), _right()), "times"


def rows_each_of_four():
    """The rows of each of these 4 devices."""
    return len(_ROWS) // 4, "rows"


def microbatches():
    """The microbatches that the rows are divided into."""
    return 4, "microbatches"


def accumulated_times():
    """The sum of the gradients of the microbatches, over the right gradient."""
    parts = jnp.split(_ROWS, microbatches()[0])
    return _ratio(sum(float(_own_gradient(_WEIGHT, part)) for part in parts), _right()), "times"


def equal_scatter_times():
    """psum_scatter of a vector that is equal on all devices, over that vector."""
    run = jax.shard_map(
        lambda whole: lax.psum_scatter(whole, "x", tiled=True), mesh=_MESH, in_specs=_EQUAL, out_specs=_VARYING
    )
    (ratio,) = {_ratio(float(value), float(row)) for value, row in zip(run(_ROWS), _ROWS, strict=True)}
    return ratio, "times"


def scatter_times():
    """psum_scatter of the devices' own gradients for a whole weight of 8 values, over the right gradient."""

    def body(weights: jax.Array, rows: jax.Array) -> jax.Array:
        own = jax.grad(lambda weights: jnp.mean(weights * rows))(lax.pcast(weights, "x", to="varying"))
        return lax.psum_scatter(own, "x", tiled=True)

    weights = jnp.full(8, _WEIGHT)
    expected = jax.grad(lambda weights: jnp.mean(weights[:, None] * _ROWS))(weights)
    scattered = _program(body, _VARYING)(weights, _ROWS)
    (ratio,) = {_ratio(float(value), float(right)) for value, right in zip(scattered, expected, strict=True)}
    return ratio, "times"


def sgd_times():
    """The step of SGD for the sum of the gradients, over the one for their mean."""
    return round(_step_times(optax.sgd(0.05))), "times"


def adam_times():
    """The first step of Adam for the sum of the gradients, over the one for their mean."""
    return f"{_step_times(optax.adam(1e-3)):.2f}", "times"


def needless_reduces():
    """The all_reduces of a program with pmean after grad."""
    return _all_reduces(_mean_of_equals), "all_reduces"


def needed_reduces():
    """The all_reduces of a program with grad alone."""
    return _all_reduces(_own_gradient), "all_reduce"


def unchecked_psum_times():
    """grad of psum of the loss with check_vma=False, over the gradient of the device's own loss."""

    def body(weight: jax.Array, rows: jax.Array) -> jax.Array:
        return jax.grad(lambda weight: lax.psum(_loss(weight, rows), "x"))(weight)[None]

    found = _program(body, _VARYING, check=False)(_WEIGHT, _ROWS)
    (ratio,) = {_ratio(float(value), float(own)) for value, own in zip(found, _ROWS, strict=True)}
    return ratio, "times"
