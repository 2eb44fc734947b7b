"""The numbers of the lesson, read from programs that are compiled for 8 host devices."""

import re
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from jax.stages import Compiled, Traced

from grader.program.census import Census, take_census
from tests.lessons.errors import error_of

_MESH = Mesh(jax.devices(), ("x",))
_GRID = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
_LAYERS, _WIDTH, _ROWS, _MANY_ROWS = 6, 128, 64, 4096
_SHARDS = P(None, "x")


def _array(shape: tuple[int, ...], spec: P, mesh: Mesh = _MESH) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(mesh, spec))


@cache
def _alone() -> Census:
    """The loop over layers on a mesh of one device, where its program has an all_gather."""
    census = _census("loop", Mesh(np.array(jax.devices()[:1]), ("x",)))
    assert "all-gather" in {each.kind for each in census.collectives}
    return census


@cache
def _layered(how: str, mesh: Mesh = _MESH) -> Compiled:
    """Compile the gradient of a scan over layers that gathers upfront, in the loop, or again in the backward loop."""

    def layer(hidden: jax.Array, weight: jax.Array) -> tuple[jax.Array, None]:
        if how != "upfront":
            weight = lax.all_gather(weight, "x", tiled=True)
        return jnp.tanh(hidden @ weight), None

    def gradient(weights: jax.Array, rows: jax.Array) -> jax.Array:
        def loss(weights: jax.Array) -> jax.Array:
            body = layer
            if how == "upfront":
                weights = lax.all_gather(weights, "x", axis=1, tiled=True)
            if how == "again":
                body = jax.checkpoint(layer, policy=lambda primitive, *_, **__: primitive.name != "all_gather")
            hidden, _ = lax.scan(body, rows, weights)
            return lax.pmean(jnp.mean(hidden**2), "x")

        return jax.grad(loss)(weights)

    mapped = jax.shard_map(gradient, mesh=mesh, in_specs=(_SHARDS, P("x")), out_specs=_SHARDS)
    weights = _array((_LAYERS, _WIDTH, _WIDTH), _SHARDS, mesh)
    return jax.jit(mapped).lower(weights, _array((_ROWS, _WIDTH), P("x"), mesh)).compile()


def _census(how: str, mesh: Mesh = _MESH) -> Census:
    return take_census(_layered(how, mesh).as_text(), mesh.size)


def _executions(how: str) -> int:
    return sum(each.executions for each in _census(how).collectives if each.kind == "all-gather")


def _sent(census: Census, kind: str = "") -> int:
    return sum(each.ring_bytes * each.executions for each in census.collectives if kind in ("", each.kind))


def _temporaries(how: str) -> int:
    return _layered(how).memory_analysis().temp_size_in_bytes


@cache
def _activations(*, checkpointed: bool) -> Compiled:
    """Compile a step of plain jit on sharded layers, with many rows."""

    def layer(hidden: jax.Array, weight: jax.Array) -> tuple[jax.Array, None]:
        return jnp.tanh(hidden @ weight), None

    def step(weights: jax.Array, rows: jax.Array) -> jax.Array:
        body = jax.checkpoint(layer) if checkpointed else layer
        return weights - 0.1 * jax.grad(lambda weights: jnp.mean(lax.scan(body, rows, weights)[0] ** 2))(weights)

    weights = _array((_LAYERS, _WIDTH, _WIDTH), _SHARDS)
    return jax.jit(step, donate_argnums=0).lower(weights, _array((_MANY_ROWS, _WIDTH), P("x"))).compile()


@cache
def _traced() -> Traced:
    """The gradient of the lesson's first program."""

    def loss(weight: jax.Array, rows: jax.Array) -> jax.Array:
        return jnp.mean(jnp.tanh(rows @ weight) ** 2)

    weight = _array((64, 128), P(None, "model"), _GRID)
    return jax.jit(jax.grad(loss)).trace(weight, _array((32, 64), P("data"), _GRID))


def devices():
    """The devices of the mesh, all of one process."""
    (process,) = {device.process_index for device in _MESH.devices}
    assert process == jax.process_index()
    return _MESH.size, "devices"


def float_error():
    """The error of float for a traced value."""
    says = "Abstract tracer value encountered where concrete value is expected"
    return error_of(lambda: jax.jit(lambda loss: jnp.array([float(loss)]))(1.0), says), ""


def if_error():
    """The error of a comparison of a traced number in an if."""
    says = "Attempted boolean conversion of traced array with shape bool[]"
    return error_of(lambda: jax.jit(lambda mesh_size: 1 if mesh_size > 1 else 0)(8), says), ""


def compiled_by_shape():
    """How often a jitted function without static arguments is compiled for three calls with two shapes."""
    mean = jax.jit(lambda rows: rows.mean())
    for rows in (8, 16, 8):
        mean(jnp.ones(rows))
    return mean._cache_size(), "compilations"


def gathers():
    """Executions of the all_gather in the loop over six layers."""
    return _executions("loop"), "times"


def gathers_again():
    """Executions of all_gathers with a policy that does not save gathered weights."""
    return _executions("again"), "all_gathers"


def reported_flops():
    """The flops of cost_analysis for the loop over six layers."""
    return int(_layered("loop").cost_analysis()["flops"]), "FLOPs"


def dot_flops():
    """The FLOPs of the matrix products of that loop, times their executions."""
    return _census("loop").dot_flops, "FLOPs"


def temporaries_kept():
    """The temporary buffers of that loop, without the policy."""
    return _temporaries("loop"), "bytes"


def temporaries_again():
    """The temporary buffers with a policy that does not save gathered weights."""
    return _temporaries("again"), "bytes"


def temporaries_upfront():
    """The temporary buffers if the weights of all layers are gathered before the loop."""
    return _temporaries("upfront"), "bytes"


def sent_kept():
    """What one device sends around a ring in the step, without the policy and with an all_gather before the loop."""
    (sent,) = {_sent(_census("loop")), _sent(_census("upfront"))}
    return sent, "bytes"


def sent_again():
    """What one device sends around a ring in the step with the policy."""
    return _sent(_census("again")), "bytes"


def sent_by_one_gather():
    """What one device sends around a ring for one execution of the all_gather in the loop."""
    (gather,) = [each for each in _census("loop").collectives if each.kind == "all-gather"]
    return gather.ring_bytes, "bytes"


def sent_by_gathers():
    """What one device sends around a ring for all executions of the all_gather in the loop."""
    return _sent(_census("loop"), "all-gather"), "bytes"


def sent_by_gathers_again():
    """What one device sends around a ring for all executions of the all_gathers in both loops, with the policy."""
    return _sent(_census("again"), "all-gather"), "bytes"


def pairs():
    """The -start and -done instructions in all programs that are compiled here."""
    programs = [_layered(how) for how in ("upfront", "loop", "again")]
    programs += [_activations(checkpointed=False), _traced().lower().compile()]
    return sum(len(re.findall(r"-(?:start|done)\(", program.as_text())) for program in programs), "pairs"


def async_error():
    """The error of lax.async_all_gather."""
    return error_of(lambda: lax.async_all_gather, "module 'jax.lax' has no attribute 'async_all_gather'"), ""


def temporaries_plain():
    """The temporary buffers of a jitted step on 4096 rows, with a loop over six layers."""
    return _activations(checkpointed=False).memory_analysis().temp_size_in_bytes, "bytes"


def temporaries_remat():
    """The temporary buffers of this step with jax.checkpoint around each layer."""
    return _activations(checkpointed=True).memory_analysis().temp_size_in_bytes, "bytes"


def arguments_remat():
    """The arguments of the same step, with and without jax.checkpoint."""
    (size,) = {_activations(checkpointed=each).memory_analysis().argument_size_in_bytes for each in (True, False)}
    return size, "bytes"


def jaxpr_reduces():
    """The all_reduces in the jaxpr of the first program."""
    return len(re.findall("psum|all_reduce", str(_traced().jaxpr))), "all_reduces"


def compiled_reduces():
    """The all_reduces in the same program when compiled."""
    found = take_census(_traced().lower().compile().as_text(), _GRID.size).collectives
    return sum(each.kind == "all-reduce" for each in found), "all_reduce"


def alone_sent():
    """What one device sends in the loop over layers on a mesh of one device, where its program has an all_gather."""
    return _sent(_alone()), "bytes"


def alone_gathered():
    """The bytes that the all_gathers of that program return."""
    gathers = [each for each in _alone().collectives if each.kind == "all-gather"]
    return sum(each.logical_bytes * each.executions for each in gathers), "bytes"
