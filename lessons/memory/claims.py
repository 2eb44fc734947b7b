"""The numbers of the lesson: steps on a stack of layers, compiled for 8 host devices, and what they need on one."""

from functools import cache

import jax
import jax.numpy as jnp
from flax import nnx
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from jax.stages import Compiled
from jax.typing import DTypeLike

from app.learning.calculators.presets import PRESETS
from grader.program.census import take_census
from tests.lessons import checkpointed_loop
from tests.lessons.errors import error_of

_MESH = Mesh(jax.devices(), ("x",))
_LAYERS, _WIDTH, _ROWS = 16, 64, 512
_SHARDS = P(None, "x")
# A layer of a model with 4096 features, 32 heads and sequences of 2048 tokens. Nothing of this size is allocated.
_FEATURES, _HEADS, _TOKENS = 4096, 32, 2048
_UNEVEN = 100
_BILLIONS = 70
_CHIPS = {chip.id: chip for chip in PRESETS["chip"]}


def _array(shape: tuple[int, ...], spec: P) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(_MESH, spec))


@cache
def _jitted(*, donated: bool) -> Compiled:
    """The lesson's first step: SGD with momentum by jit, its weights and momentum in shards."""

    def step(w, m, rows):
        def loss(w):
            hidden, _ = lax.scan(lambda h, w: (jnp.tanh(h @ w), None), rows, w)
            return jnp.mean(hidden**2)

        m = 0.9 * m + jax.grad(loss)(w)
        return w - 0.1 * m, m

    w = _array((_LAYERS, _WIDTH, _WIDTH), _SHARDS)
    batch = _array((_ROWS, _WIDTH), P("x"))
    return jax.jit(step, donate_argnums=(0, 1) if donated else ()).lower(w, w, batch).compile()


@cache
def _gathered(rows: int, *, kept: bool) -> Compiled:
    """The gradient in shard_map, with an all_gather in each layer. The gathered weights are kept, or gathered again."""

    def layer(hidden, shard):
        return jnp.tanh(hidden @ lax.all_gather(shard, "x", tiled=True)), None

    def gradient(shards, rows):
        def loss(shards):
            body = layer
            if not kept:
                body = jax.checkpoint(layer, policy=lambda primitive, *_, **__: primitive.name != "all_gather")
            hidden, _ = lax.scan(body, rows, shards)
            return lax.pmean(jnp.mean(hidden**2), "x")

        return jax.grad(loss)(shards)

    mapped = jax.shard_map(gradient, mesh=_MESH, in_specs=(_SHARDS, P("x")), out_specs=_SHARDS)
    return jax.jit(mapped).lower(_array((_LAYERS, _WIDTH, _WIDTH), _SHARDS), _array((rows, _WIDTH), P("x"))).compile()


def _temporaries(compiled: Compiled) -> int:
    return compiled.memory_analysis().temp_size_in_bytes


def _gather_bytes(rows: int) -> int:
    """Return the bytes that the largest all_gather of the step returns."""
    found = take_census(_gathered(rows, kept=False).as_text(), _MESH.size).collectives
    return max(each.ring_bytes for each in found if each.kind == "all-gather") * _MESH.size // (_MESH.size - 1)


@cache
def _model_bytes(*, only_kernels: bool) -> tuple[int, int]:
    """Return the bytes that a device holds of a model with an embedding, and those of the whole model."""

    def model():
        rngs = nnx.Rngs(0)
        return nnx.state(nnx.Dict(embed=nnx.Embed(4096, 64, rngs=rngs), head=nnx.Linear(64, 512, rngs=rngs)), nnx.Param)

    held = whole = 0
    for path, leaf in jax.tree_util.tree_leaves_with_path(nnx.eval_shape(model)):
        split = leaf.ndim > 1 and (not only_kernels or "kernel" in jax.tree_util.keystr(path))
        shape = NamedSharding(_MESH, P("x") if split else P()).shard_shape(leaf.shape)
        whole += leaf.size * leaf.dtype.itemsize
        held += jax.ShapeDtypeStruct(shape, leaf.dtype).size * leaf.dtype.itemsize
    return held, whole


def _gigabytes(dtype: DTypeLike) -> int:
    """Return the size in GB of the large model's parameters in this type."""
    return _BILLIONS * jnp.dtype(dtype).itemsize


def devices():
    """The devices of the mesh."""
    return _MESH.size, "devices"


def layers():
    """The layers of the network."""
    return _LAYERS, "layers"


def weights_bytes():
    """The bytes of all weights, whole."""
    return _LAYERS * _WIDTH * _WIDTH * 4, "bytes"


def shard_bytes():
    """The bytes of one device's weights, read from the outputs of the compiled gradient."""
    return _gathered(_ROWS, kept=True).memory_analysis().output_size_in_bytes, "bytes"


def needed_donated():
    """Arguments, outputs that do not replace an argument, and temporaries of the first step with donation."""
    return _needed(_jitted(donated=True)), "bytes"


def needed_plain():
    """Arguments, outputs and temporaries of the first step without donation."""
    return _needed(_jitted(donated=False)), "bytes"


def _needed(compiled: Compiled) -> int:
    memory = compiled.memory_analysis()
    outputs = memory.output_size_in_bytes - memory.alias_size_in_bytes
    return memory.argument_size_in_bytes + outputs + memory.temp_size_in_bytes


def saved_by_donation():
    """The bytes that donation saves in the first step."""
    return _needed(_jitted(donated=False)) - _needed(_jitted(donated=True)), "bytes"


def alias_bytes():
    """The outputs of the donated step that replace an argument."""
    return _jitted(donated=True).memory_analysis().alias_size_in_bytes, "bytes"


def more_temporaries():
    """How much the temporaries of the first step grow with donation."""
    return _temporaries(_jitted(donated=True)) - _temporaries(_jitted(donated=False)), "bytes"


def model_bytes():
    """The bytes of a whole model with an embedding of 4096 words and a linear layer."""
    return _model_bytes(only_kernels=True)[1], "bytes"


def only_kernels():
    """What a device holds of that model if only leaves with kernel in their path are split."""
    return _model_bytes(only_kernels=True)[0], "bytes"


def all_matrices():
    """What a device holds of that model if all matrices are split."""
    return _model_bytes(only_kernels=False)[0], "bytes"


def uneven_error():
    """The error for an array of 100 rows on 8 devices."""
    split = NamedSharding(_MESH, P("x"))
    return error_of(lambda: jax.device_put(jnp.zeros(_UNEVEN), split), "but the dimension size is 100"), ""


def columns_times():
    """Parameters, both moments of Adam and gradients on one device, over its shard of the parameters.

    The network has its weights in columns, which is tensor parallelism.
    """
    columns = _array((_WIDTH, _WIDTH), P(None, "x"))

    def step(state, rows):
        w, mu, nu = state
        slope = jax.grad(lambda w: jnp.mean(jnp.tanh(rows @ w) ** 2))(w)
        return (w, mu, nu), slope

    state = (columns,) * 3
    compiled = jax.jit(step).lower(state, _array((_ROWS, _WIDTH), P())).compile()
    held, slope = compiled.output_shardings
    shapes = [each.shard_shape((_WIDTH, _WIDTH)) for each in (*held, slope)]
    (shard,) = set(shapes)
    assert shard == (_WIDTH, _WIDTH // _MESH.size)
    return len(shapes), "times"


def layer_bytes():
    """The bytes that one all_gather of the step returns: the whole weight of one layer, whatever the batch."""
    (whole,) = {_gather_bytes(rows) for rows in (_ROWS, 2 * _ROWS)}
    assert whole == _WIDTH * _WIDTH * 4
    return whole, "bytes"


def temporaries_kept():
    """The temporary buffers of the gradient with an all_gather in each layer."""
    return _temporaries(_gathered(_ROWS, kept=True)), "bytes"


def temporaries_again():
    """The temporary buffers of the gradient if the weights are gathered again for the backward pass."""
    return _temporaries(_gathered(_ROWS, kept=False)), "bytes"


def kept_more():
    """How much more temporary memory a step takes if the gathered weights are kept."""
    return _temporaries(_gathered(_ROWS, kept=True)) - _temporaries(_gathered(_ROWS, kept=False)), "bytes"


def score_times():
    """The elements of the attention scores over those of the layer's input: 4096 features, 32 heads, 2048 tokens."""
    each = jax.ShapeDtypeStruct((1, _TOKENS, _HEADS, _FEATURES // _HEADS), jnp.float32)
    scores = jax.eval_shape(lambda q, k: jnp.einsum("bqhd,bkhd->bhqk", q, k), each, each)
    return scores.size // each.size, "times"


def score_formula():
    """What the formula 2 * tokens / features gives for this ratio."""
    return 2 * _TOKENS // _FEATURES, "times"


def features():
    """The features of the layer."""
    return _FEATURES, "features"


def heads():
    """The heads of the layer."""
    return _HEADS, "heads"


def tokens():
    """The tokens of a sequence."""
    return _TOKENS, "tokens"


def checkpointed_layers():
    """The layers of the loop that is checkpointed."""
    return checkpointed_loop.LAYERS, "layers"


def one_segment():
    """The temporary buffers of that loop with one segment of all layers."""
    return checkpointed_loop.temporaries(1), "bytes"


def four_segments():
    """The temporary buffers of that loop with four segments."""
    return checkpointed_loop.temporaries(4), "bytes"


def eight_segments():
    """The temporary buffers of that loop with eight segments of eight layers."""
    return checkpointed_loop.temporaries(8), "bytes"


def large_parameters():
    """The parameters of a large model."""
    return _BILLIONS, "billion parameters"


def large_model():
    """The size of the large model's parameters in bfloat16."""
    return _gigabytes(jnp.bfloat16), "GB"


def large_state():
    """The size of its parameters and gradients in bfloat16, a copy of the parameters and Adam's moments in float32."""
    return 2 * _gigabytes(jnp.bfloat16) + 3 * _gigabytes(jnp.float32), "GB"


def h100_memory():
    """The memory of an H100, as its data sheet states it."""
    return int(_CHIPS["h100"].fills["memory"]), "GB"


def h200_memory():
    """The memory of an H200, as its data sheet states it."""
    return int(_CHIPS["h200"].fills["memory"]), "GB"
