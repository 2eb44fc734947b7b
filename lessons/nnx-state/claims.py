"""The numbers of the lesson: errors of nnx, products of a step that trains adapters, and what a device holds."""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import Mesh
from jax.stages import Compiled

from grader.program.census import take_census
from tests.lessons.errors import error_of

_MESH = Mesh(jax.devices(), ("model",))
_COLUMNS: dict[str, Any] = {"out_sharding": (None, "model")}
_ROWS: dict[str, Any] = {"out_sharding": ("model", None)}
_LAYERS = 4
_CALLS = 2


class _Adapted(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.base = nnx.Linear(64, 64, rngs=rngs)
        self.adapter = nnx.LoRA(64, 4, 64, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return nnx.tanh(self.base(x) + self.adapter(x))


class _Block(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(16, 16, rngs=rngs)
        self.dropout = nnx.Dropout(0.5, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.dropout(self.linear(x))


def _linear(metadata: dict[str, Any] | None = None) -> nnx.Linear:
    return nnx.Linear(16, 64, kernel_metadata=metadata or {}, rngs=nnx.Rngs(0))


def _adam(model: nnx.Module, wrt: Any = nnx.Param) -> nnx.Optimizer:
    return nnx.Optimizer(model, optax.adam(1e-3), wrt=wrt)


def _step(model: _Adapted, optimizer: nnx.Optimizer, x: jax.Array, wrt: Any) -> None:
    grads = nnx.grad(lambda model: jnp.mean(model(x) ** 2), argnums=nnx.DiffState(0, wrt))(model)
    optimizer.update(model, grads)


def _flops(compiled: Compiled) -> int:
    return take_census(compiled.as_text(), 1).dot_flops


@cache
def _step_flops(updated: Any, wrt: Any) -> int:
    model = _Adapted(nnx.Rngs(0))
    lowered = nnx.jit(_step, static_argnums=3).lower(model, _adam(model, updated), jnp.ones((32, 64)), wrt)
    return _flops(lowered.compile())


def missing_filter_error():
    """The error of nnx.split if a variable matches no filter."""
    return error_of(lambda: nnx.split(_Block(nnx.Rngs(0)), nnx.Param), "Non-exhaustive filters"), ""


def no_mesh_error():
    """The error of a variable with out_sharding if no mesh is set. `with mesh:` sets none."""

    def in_old_context() -> nnx.Linear:
        with warnings.catch_warnings(), _MESH:
            return _linear(_COLUMNS)

    says = "An auto mesh context or metadata is required if creating a variable"
    (error,) = {error_of(lambda: _linear(_COLUMNS), says), error_of(in_old_context, says)}
    return error, ""


def all_flops():
    """The FLOPs of matrix products in a step that updates all parameters."""
    return _step_flops(nnx.Param, nnx.Param), "FLOPs"


def adapter_flops():
    """The matrix products of a step that updates only the adapters, whether or not it computes other gradients."""
    (flops,) = {_step_flops(nnx.LoRAParam, wrt) for wrt in (nnx.Param, nnx.LoRAParam)}
    return flops, "FLOPs"


def pure_flops():
    """The matrix products of a step that updates only the adapters, with nnx.split, nnx.merge and jax.jit."""
    model = _Adapted(nnx.Rngs(0))
    graph, state = nnx.split((model, _adam(model, nnx.LoRAParam)))

    @jax.jit
    def step(state: Any, x: jax.Array) -> Any:
        model, optimizer = nnx.merge(graph, state)
        _step(model, optimizer, x, nnx.LoRAParam)
        return nnx.state((model, optimizer))

    return _flops(step.lower(state, jnp.ones((32, 64))).compile()), "FLOPs"


def no_wrt_error():
    """The error of nnx.Optimizer(model, tx)."""
    return error_of(lambda: nnx.Optimizer(_linear(), optax.sgd(0.1)), "Missing required argument"), ""


def no_model_error():
    """The error of optimizer.update(grads)."""
    model = _linear()
    optimizer = _adam(model)
    return error_of(
        lambda: optimizer.update(nnx.state(model, nnx.Param)), "update requires both (model, grads) arguments"
    ), ""


def has_no_model_error():
    """The error of optimizer.model."""
    return error_of(lambda: _adam(_linear()).model, "Optimizer does not have attribute 'model'"), ""


def stack_error():
    """The error of an optimizer for stacked layers whose metadata lacks an entry, and so splits the layers."""
    with jax.set_mesh(_MESH):
        stack = nnx.vmap(lambda rngs: nnx.Linear(16, 64, kernel_metadata=_ROWS, rngs=rngs))(nnx.Rngs(0).split(_LAYERS))
        return error_of(lambda: _adam(stack), "axis 0 is partitioned 8 times, but the dimension size is 4"), ""


def _count(run: Callable[[jax.Array, _Block], jax.Array]) -> int:
    """Return how often each layer's dropout has drawn a mask after some calls."""
    stack = nnx.vmap(_Block)(nnx.Rngs(0).split(_LAYERS))
    for _ in range(_CALLS):
        run(jnp.ones((2, 16)), stack)
    (count,) = set(stack.dropout.rngs.count[...].tolist())
    return count


def _through_lax(x: jax.Array, stack: _Block) -> jax.Array:
    return jax.lax.scan(lambda x, block: (block(x), None), x, stack)[0]


_through_nnx = nnx.scan(lambda x, block: block(x), in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)


def loop_products():
    """The matrix products in the program of a stack, whether jax.lax.scan or nnx.scan runs it."""
    stack, x = nnx.vmap(_Block)(nnx.Rngs(0).split(_LAYERS)), jnp.ones((2, 16))
    lowered = [nnx.jit(run).lower(x, stack) for run in (_through_lax, _through_nnx)]
    (products,) = {each.compile().as_text().count(" dot(") for each in lowered}
    return products, "matrix product"


def lax_count():
    """How often each layer drew a mask, in a stack that went through jax.lax.scan."""
    return _count(_through_lax), ""


def nnx_count():
    """How often each layer drew a mask, in a stack that went through nnx.scan."""
    return _count(_through_nnx), ""


def _held(metadata: dict[str, Any]) -> list[int]:
    """What a device holds of a kernel and of its two moments."""
    with jax.set_mesh(_MESH):
        linear = _linear(metadata)
        moments = _adam(linear).opt_state[0]
    arrays = [each.get_value() for each in (linear.kernel, moments.mu["kernel"], moments.nu["kernel"])]
    return [each.addressable_shards[0].data.nbytes for each in arrays]


def kernel_whole():
    """The bytes of the kernel in the lesson's third program."""
    return _linear().kernel.nbytes, "bytes"


def kernel_share():
    """What a device holds of a kernel that is split over all devices."""
    return _held(_COLUMNS)[0], "bytes"


def kernel_and_moments():
    """What a device holds of a kernel and its two moments, split over all devices."""
    return sum(_held(_COLUMNS)), "bytes"


def moments_whole():
    """What a device holds if the kernel is split and its moments are whole."""
    return _held(_COLUMNS)[0] + sum(_held({})[1:]), "bytes"


def all_whole():
    """The bytes of the whole kernel and its whole moments."""
    return sum(_held({})), "bytes"
