"""The numbers of the lesson: a layer of experts on 8 host devices, whose tokens or whose weights travel."""

from functools import cache, partial

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from jax.stages import Compiled

from grader.program.census import Census, take_census
from tests.lessons import ragged_exchange

_MESH = Mesh(jax.devices(), ("expert",))
_EXPERTS = _MESH.size
_WIDTH, _HIDDEN = 64, 256
# Slots per token, all experts together.
_SLACK = 1.25
_FEW, _SOME, _MANY = 64, 512, 4096


def _exchanged(x, up, down, *, capacity: int):
    """Send tokens to experts. Slots are filled in the tokens' order, since their contents do not affect the shapes."""
    slots = jnp.resize(x, (_EXPERTS, capacity, _WIDTH))
    here = lax.all_to_all(slots, "expert", 0, 1, tiled=True)
    done = jax.nn.relu(here @ up) @ down
    back = lax.all_to_all(done, "expert", 1, 0, tiled=True)
    return x + back.reshape(-1, _WIDTH)[: len(x)]


def _gathered(x, up, down, *, capacity: int):
    whole_up, whole_down = (lax.all_gather(each, "expert", tiled=True) for each in (up, down))
    slots = jnp.resize(x, (_EXPERTS, capacity, _WIDTH))
    done = jax.nn.relu(slots @ whole_up) @ whole_down
    return x + done.reshape(-1, _WIDTH)[: len(x)]


@cache
def _layer(tokens: int, slack: float = _SLACK, *, gathered: bool = False) -> Compiled:
    """Compile the layer with this many tokens on each device."""
    capacity = int(tokens * slack / _EXPERTS)
    body = partial(_gathered if gathered else _exchanged, capacity=capacity)
    split = NamedSharding(_MESH, P("expert"))
    shapes = (tokens * _MESH.size, _WIDTH), (_EXPERTS, _WIDTH, _HIDDEN), (_EXPERTS, _HIDDEN, _WIDTH)
    arrays = [jax.ShapeDtypeStruct(shape, jnp.float32, sharding=split) for shape in shapes]
    mapped = jax.shard_map(body, mesh=_MESH, in_specs=P("expert"), out_specs=P("expert"))
    return jax.jit(mapped).lower(*arrays).compile()


def _census(compiled: Compiled) -> Census:
    return take_census(compiled.as_text(), _MESH.size)


def _sent(compiled: Compiled, kind: str) -> int:
    found = _census(compiled).collectives
    assert {each.kind for each in found} == {kind}
    return sum(each.ring_bytes * each.executions for each in found)


def devices():
    """The devices of the mesh."""
    return _MESH.size, "devices"


def expert_weights():
    """The weights of one expert."""
    return 2 * _WIDTH * _HIDDEN, "weights"


def layer_weights():
    """The weights of all experts."""
    return _EXPERTS * expert_weights()[0], "weights"


def token_flops():
    """The FLOPs of matrix products that a token needs: those of the layer with one slot per token, over its tokens."""
    return _census(_layer(_SOME, 1.0)).dot_flops // _SOME, "FLOPs"


def slack():
    """The slots for each token."""
    return _SLACK, ""


def few_sent():
    """What a device sends in both all_to_alls with a few tokens."""
    return _sent(_layer(_FEW), "all-to-all"), "bytes"


def ragged_sent():
    """What each of eight H100s sends with a few tokens in a ragged_all_to_all, if all experts get equally many."""
    return ragged_exchange.SENT, "bytes"


def slots_sent():
    """What a device sends in one of the two all_to_alls with a few tokens."""
    return few_sent()[0] // 2, "bytes"


def some_sent():
    """What a device sends in both all_to_alls with some tokens."""
    return _sent(_layer(_SOME), "all-to-all"), "bytes"


def many_sent():
    """What a device sends in both all_to_alls with many tokens."""
    return _sent(_layer(_MANY), "all-to-all"), "bytes"


def double_sent():
    """What a device sends in both all_to_alls with some tokens and twice the slots."""
    return _sent(_layer(_SOME, 2 * _SLACK), "all-to-all"), "bytes"


def double_slots():
    """The bytes of all slots of a device in both directions, with some tokens and twice the slots."""
    capacity = int(2 * _SLACK * _SOME / _EXPERTS)
    return 2 * jnp.zeros((_EXPERTS, capacity, _WIDTH)).nbytes, "bytes"


def weights_sent():
    """What a device sends to gather all experts, which does not depend on the tokens."""
    (sent,) = {_sent(_layer(tokens, gathered=True), "all-gather") for tokens in (_FEW, _SOME, _MANY)}
    return sent, "bytes"


def even_tokens():
    """The tokens on a device at which both ways send equally many bytes, rounded to tens."""
    return round(weights_sent()[0] * _SOME // some_sent()[0], -1), "tokens"


def exchanged_temporaries():
    """The temporary buffers with some tokens, if the tokens travel."""
    return _layer(_SOME).memory_analysis().temp_size_in_bytes, "bytes"


def gathered_temporaries():
    """The temporary buffers with some tokens, if the weights travel."""
    return _layer(_SOME, gathered=True).memory_analysis().temp_size_in_bytes, "bytes"
