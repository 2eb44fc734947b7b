"""The numbers of the lesson: one step on two weights, compiled for 8 host devices."""

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx
from jax import lax
from jax.lax import with_sharding_constraint
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from grader.program.census import Census, take_census
from tests.lessons.errors import error_of

_MESH = Mesh(jax.devices(), ("x",))
_GRID = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "fsdp"))
_SHAPES = (64, 128), (128, 32)
_SPECS = P(None, "x"), P("x")
_FEW, _MORE, _MANY = 64, 128, 512
_MICROBATCHES = 4
Weights = tuple[jax.Array, jax.Array]
Use = Callable[[Weights], Weights]


def _free(weights: Weights) -> Weights:
    return weights


def _pinned(weights: Weights) -> Weights:
    return with_sharding_constraint(weights, NamedSharding(_MESH, P()))


def _pinned_on_grid(weights: Weights) -> Weights:
    return with_sharding_constraint(weights, NamedSharding(_GRID, P()))


def _by_rows(hidden: jax.Array) -> jax.Array:
    """Place all rows on each device, for its part of the hidden layer."""
    return with_sharding_constraint(hidden, NamedSharding(_MESH, P(None, "x")))


def _gradient(weights: Weights, rows: jax.Array, use: Use, hidden_at: Callable[[jax.Array], jax.Array]) -> Weights:
    def loss(weights: Weights) -> jax.Array:
        first, second = use(weights)
        return jnp.mean((hidden_at(jax.nn.relu(rows @ first)) @ second) ** 2)

    return jax.grad(loss)(weights)


def _updated(weights: Weights, gradient: Weights) -> Weights:
    return jax.tree.map(lambda weight, slope: weight - 0.1 * slope, weights, gradient)


def _array(shape: tuple[int, ...], spec: P, mesh: Mesh) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, spec))


def _weights(specs: tuple[P, P] = _SPECS, mesh: Mesh = _MESH) -> tuple[jax.ShapeDtypeStruct, ...]:
    return tuple(_array(shape, spec, mesh) for shape, spec in zip(_SHAPES, specs, strict=True))


def _compiled(step: Callable[..., Weights], *arguments: object) -> Census:
    return take_census(jax.jit(step).lower(*arguments).compile().as_text(), _MESH.size)


@cache
def _step(rows: int, use: Use = _free, hidden_at: Callable[[jax.Array], jax.Array] = lambda hidden: hidden) -> Census:
    def step(weights: Weights, batch: jax.Array) -> Weights:
        return _updated(weights, _gradient(weights, batch, use, hidden_at))

    return _compiled(step, _weights(), _array((rows, _SHAPES[0][0]), P("x"), _MESH))


@cache
def _by_hand(rows: int) -> Census:
    def step(weights: Weights, batch: jax.Array) -> Weights:
        def loss(weights: Weights) -> jax.Array:
            first = lax.all_gather(weights[0], "x", axis=1, tiled=True)
            second = lax.all_gather(weights[1], "x", axis=0, tiled=True)
            return lax.pmean(jnp.mean((jax.nn.relu(batch @ first) @ second) ** 2), "x")

        return _updated(weights, jax.grad(loss)(weights))

    step = jax.shard_map(step, mesh=_MESH, in_specs=(_SPECS, P("x")), out_specs=_SPECS)
    return _compiled(step, _weights(), _array((rows, _SHAPES[0][0]), P("x"), _MESH))


def _sent(census: Census, kind: str = "") -> int:
    return sum(each.ring_bytes * each.executions for each in census.collectives if kind in ("", each.kind))


def _gathers_weights(rows: int) -> bool:
    """Whether both weights are gathered, and nothing else. Otherwise, neither is, as the lesson says."""
    gathered = {shape for each in _step(rows).collectives if each.kind == "all-gather" for shape in each.shapes}
    assert gathered in (set(_SHAPES), {(rows, _SHAPES[0][0])}), gathered
    return gathered == set(_SHAPES)


@cache
def _choices() -> dict[int, bool]:
    """For each number of rows, whether jit gathers the weights."""
    return {rows: _gathers_weights(rows) for rows in range(8, 257, 8)}


def devices():
    """The devices of the mesh."""
    return _MESH.size, "devices"


def weights_bytes():
    """The bytes of both weights, whole."""
    return sum(np.zeros(shape, np.float32).nbytes for shape in _SHAPES), "bytes"


def last_by_rows():
    """The largest of the batches of 8, 16 and so on up to 256 rows for which jit moves activations."""
    found = max(rows for rows, by_weights in _choices().items() if not by_weights)
    assert all(by_weights == (rows > found) for rows, by_weights in _choices().items())
    return found, "rows"


def first_by_weights():
    """The smallest of these batches for which jit gathers the weights."""
    return min(rows for rows, by_weights in _choices().items() if by_weights), "rows"


def by_rows_sent():
    """What one device sends around a ring in a jitted step on 64 rows."""
    return _sent(_step(_FEW)), "bytes"


def by_weights_sent():
    """What one device sends around a ring on 128 rows, and with the weights pinned on 64 and 512 rows."""
    (sent,) = {_sent(_step(_MORE)), _sent(_step(_FEW, _pinned)), _sent(_step(_MANY, _pinned))}
    return sent, "bytes"


def forced_by_rows():
    """What one device sends around a ring on 128 rows, with a constraint that makes activations travel."""
    return _sent(_step(_MORE, _free, _by_rows)), "bytes"


def many_rows():
    """A batch for which jit gathers the weights."""
    assert _gathers_weights(_MANY)
    return _MANY, "rows"


def many_by_rows():
    """What one device sends in a step on that batch, with a constraint that makes activations travel."""
    return _sent(_step(_MANY, _free, _by_rows)), "bytes"


def gradient_values():
    """The values of both gradients. For 64 rows, most of them change in their last bits when the weights are pinned."""
    keys = jax.random.split(jax.random.key(0), 3)
    shapes, specs = (*_SHAPES, (_FEW, _SHAPES[0][0])), (*_SPECS, P("x"))
    first, second, rows = (
        jax.device_put(jax.random.normal(key, shape), NamedSharding(_MESH, spec))
        for key, shape, spec in zip(keys, shapes, specs, strict=True)
    )
    run = jax.jit(lambda weights, rows, use: _gradient(weights, rows, use, lambda hidden: hidden), static_argnums=2)
    pairs = list(zip(run((first, second), rows, _free), run((first, second), rows, _pinned), strict=True))
    assert all(jnp.allclose(free, pinned, 1e-4, 1e-4) for free, pinned in pairs)
    values = sum(free.size for free, _ in pairs)
    assert sum(int((free != pinned).sum()) for free, pinned in pairs) > values / 2
    return values, "values"


def no_mesh_error():
    """The error of with_sharding_constraint with a spec in a jitted function, without a mesh."""
    constrained = jax.jit(lambda weight: with_sharding_constraint(weight, P("x")))
    says = "with_sharding_constraint requires a non-empty mesh in context"
    return error_of(lambda: constrained(jnp.ones(8)), says), ""


def with_mesh_error():
    """The error of jit with a spec in in_shardings, called in `with mesh:`, which also warns that it is deprecated."""
    split = jax.jit(lambda weight: weight, in_shardings=P("x"))
    with pytest.warns(DeprecationWarning, match="set_mesh"), _MESH:
        return error_of(lambda: split(jnp.ones(8)), "jit requires a non-empty mesh in context"), ""


def out_pair_error():
    """The error of jit with two shardings in out_shardings, for a function with one output."""
    pair = NamedSharding(_MESH, P()), NamedSharding(_MESH, P("x"))
    layer = jax.jit(lambda weight, rows: rows @ weight, in_shardings=pair, out_shardings=pair)
    return error_of(
        lambda: layer(jnp.ones((8, 8)), jnp.ones((8, 8))), "pytree structure error: different types at key path"
    ), ""


def fsdp_devices():
    """The devices of the FSDP axis of a mesh of 2 by 4."""
    return _GRID.shape["fsdp"], "devices"


def repeated_flops():
    """Matrix FLOPs of a device with rows split over "data" only, over those with rows split over both axes."""

    def step(weights: Weights, rows: jax.Array) -> Weights:
        return _updated(weights, _gradient(weights, rows, _pinned_on_grid, lambda hidden: hidden))

    flops = []
    for spec in (P("data"), P(("data", "fsdp"))):
        rows = _array((_MANY, _SHAPES[0][0]), spec, _GRID)
        flops.append(_compiled(step, _weights((P(None, "fsdp"), P("fsdp")), _GRID), rows).dot_flops)
    times, rest = divmod(*flops)
    assert rest == 0
    return times, "times"


def by_hand_sent():
    """What one device sends in a step in shard_map, on 64 and on 512 rows."""
    (sent,) = {_sent(_by_hand(_FEW)), _sent(_by_hand(_MANY))}
    return sent, "bytes"


def old_decorator_error():
    """The error of jax.experimental.shard_map.shard_map as a decorator. Its import warns that it is deprecated."""
    with pytest.warns(DeprecationWarning, match="shard_map"):
        from jax.experimental.shard_map import shard_map
    says = "shard_map() missing 1 required positional argument: 'f'"
    return error_of(lambda: shard_map(mesh=_MESH, in_specs=P("x"), out_specs=P("x")), says), ""


def no_pjit_error():
    """The error of importing pjit_new from jax.experimental. Importing pjit warns that it is deprecated."""
    with pytest.warns(DeprecationWarning, match="jax.jit"):
        from jax.experimental.pjit import pjit
    assert pjit(lambda rows: 2 * rows)(1) == 2

    def new() -> None:
        from jax.experimental import pjit_new  # noqa: F401

    return error_of(new, "cannot import name 'pjit_new' from 'jax.experimental'"), ""


def _changes(mapped: Callable[..., Any]) -> list[bool]:
    """For each leaf of a model: whether an update inside shard_map changes it."""
    model = nnx.Linear(16, 8, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
    before = jax.tree.map(np.array, jax.tree.leaves(nnx.state(model)))

    def step(model: nnx.Linear, optimizer: nnx.Optimizer, rows: jax.Array) -> jax.Array:
        loss, gradient = nnx.value_and_grad(lambda model: lax.pmean(jnp.mean(model(rows) ** 2), "x"))(model)
        optimizer.update(model, gradient)
        return loss

    mapped(step, mesh=_MESH, in_specs=(P(), P(), P("x")), out_specs=P())(model, optimizer, jnp.ones((16, 16)))
    after = jax.tree.leaves(nnx.state(model))
    return [bool((old != new).any()) for old, new in zip(before, after, strict=True)]


def model_leaves():
    """The leaves of nnx.Linear."""
    return len(_changes(jax.shard_map)), "leaves"


def changed_leaves():
    """How many of them an update in jax.shard_map changes."""
    return sum(_changes(jax.shard_map)), ""


def changed_by_nnx():
    """How many of them an update in nnx.shard_map changes."""
    return sum(_changes(nnx.shard_map)), ""


def microbatches():
    """The microbatches of 128 rows in the loop."""
    return _MICROBATCHES, "microbatches"


def loop_reduces():
    """How often a jitted step executes the all_reduce of the gradients, in a scan over the microbatches."""

    def step(weights: Weights, batches: jax.Array) -> Weights:
        def add(total: Weights, rows: jax.Array) -> tuple[Weights, None]:
            return jax.tree.map(jnp.add, total, _gradient(weights, rows, _free, lambda hidden: hidden)), None

        total, _ = lax.scan(add, jax.tree.map(jnp.zeros_like, weights), batches)
        return _updated(weights, jax.tree.map(lambda slope: slope / _MICROBATCHES, total))

    batches = _array((_MICROBATCHES, _MORE, _SHAPES[0][0]), P(None, "x"), _MESH)
    (found,) = [each for each in _compiled(step, _weights(), batches).collectives if each.kind == "all-reduce"]
    return found.executions, "all_reduces"


def gradients_reduced():
    """What one device sends for the all_reduce of the gradients, with pinned weights."""
    return _sent(_step(_FEW, _pinned), "all-reduce"), "bytes"


def weights_gathered():
    """What one device sends for the all_gathers of the weights, with pinned weights."""
    return _sent(_step(_FEW, _pinned), "all-gather"), "bytes"


def gradients_scattered():
    """What one device sends for the reduce_scatter of the gradients, in shard_map."""
    return _sent(_by_hand(_FEW), "reduce-scatter"), "bytes"
