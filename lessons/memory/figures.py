"""Draws what a device holds in a step, and the temporary memory of a checkpointed loop by its number of segments."""

from collections.abc import Iterable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from tests.lessons.checkpointed_loop import LAYERS, temporaries
from tests.lessons.drawing import BAR_HEIGHT, bar, svg

_SEGMENTS = (1, 2, 4, 8, 16, 32, 64)
_MESH = Mesh(jax.devices(), ("x",))
_SHARDS = P(None, "x")
# A device has more rows than features, so that its shape tells an activation from a gathered weight.
_STACK, _WIDTH, _ROWS = 16, 64, 1024


@dataclass(frozen=True)
class _Held:
    """The bytes of a device's arrays at a moment of a step."""

    state: int
    gathered: int = 0
    activations: int = 0
    gradient: int = 0


def _bytes(arrays: Iterable[jax.Array]) -> int:
    return sum(each.addressable_shards[0].data.nbytes for each in arrays)


def _moments() -> dict[str, _Held]:
    """Run an FSDP step on a stack of layers. Returns what a device holds before it and after each of its parts."""

    def loss(weights: jax.Array, rows: jax.Array) -> jax.Array:
        def layer(hidden: jax.Array, shard: jax.Array) -> tuple[jax.Array, None]:
            return jnp.tanh(hidden @ lax.all_gather(shard, "x", tiled=True)), None

        return lax.pmean(jnp.mean(lax.scan(layer, rows, weights)[0] ** 2), "x")

    weights = jax.device_put(jnp.ones((_STACK, _WIDTH, _WIDTH)), NamedSharding(_MESH, _SHARDS))
    momentum = jnp.zeros_like(weights)
    rows = jax.device_put(jnp.ones((_ROWS, _WIDTH)), NamedSharding(_MESH, P("x")))
    mapped = jax.shard_map(loss, mesh=_MESH, in_specs=(_SHARDS, P("x")), out_specs=P())
    before = _bytes((weights, momentum))
    value, pull = jax.vjp(lambda weights: mapped(weights, rows), weights)
    kept = jax.tree.leaves(pull)
    [gathered] = (each for each in kept if each.addressable_shards[0].data.shape == weights.shape)
    [gradient] = pull(jnp.ones_like(value))
    momentum = 0.9 * momentum + gradient
    weights = weights - 0.1 * momentum
    return {
        "before": _Held(before),
        "forward": _Held(before, _bytes([gathered]), _bytes(kept) - _bytes([gathered])),
        "backward": _Held(before, gradient=_bytes([gradient])),
        "update": _Held(_bytes((weights, momentum))),
    }


def _steps() -> dict[str, str]:
    moments = _moments()
    most = max(max(vars(held).values()) for held in moments.values())
    drawn = {}
    for name, held in moments.items():
        body, said = [], []
        for at, (label, size) in enumerate(vars(held).items()):
            body += bar(at * BAR_HEIGHT, label, f"{size:,} bytes", [(size, at + 1)], most)
            said.append(f"{label} {size:,} bytes")
        title, what = f"What a device holds in a step: {name}", f"On a device: {', '.join(said)}."
        drawn[f"moment_{name}.svg"] = svg(f"moment-{name}", title, what, len(said) * BAR_HEIGHT, body)
    return drawn


def _segments() -> str:
    needed = {segments: temporaries(segments) for segments in _SEGMENTS}
    most, least = max(needed.values()), min(needed.values())
    body = []
    for at, (segments, size) in enumerate(needed.items()):
        label = f"{segments} {'segment' if segments == 1 else 'segments'}"
        body += bar(at * BAR_HEIGHT, label, f"{size:,} bytes", [(size, 3 if size == least else 1)], most)
    described = " ".join(f"With {segments}, {size:,} bytes." for segments, size in needed.items())
    title = f"Temporary memory of a loop over {LAYERS} layers, by its segments"
    return svg("segments", title, described, len(needed) * BAR_HEIGHT, body)


def figures() -> dict[str, str]:
    return {**_steps(), "segments.svg": _segments()}
