"""Pipelines for the claims and figures of a lesson: what each stage has in a tick, and schedules of both passes."""

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def passing(stages: int, microbatches: int) -> list[list[int]]:
    """Run a forward pass. Returns the microbatch, counted from 1, that each stage has in each tick; 0 if it is idle."""
    mesh = Mesh(np.array(jax.devices()[:stages]), ("stage",))

    def local(numbers: jax.Array) -> jax.Array:
        arrived, seen = jnp.zeros_like(numbers[0]), []
        for tick in range(microbatches + stages - 1):
            fed = numbers[tick] if tick < microbatches else jnp.zeros_like(numbers[0])
            seen.append(jnp.where(lax.axis_index("stage") == 0, fed, arrived))
            arrived = lax.ppermute(seen[-1], "stage", [(stage, stage + 1) for stage in range(stages - 1)])
        return jnp.stack(seen)[None]

    mapped = jax.shard_map(local, mesh=mesh, in_specs=P(), out_specs=P("stage"))
    return jax.jit(mapped)(jnp.arange(1, microbatches + 1)).tolist()


@dataclass(frozen=True)
class Schedule:
    """Forward and backward passes of microbatches, each in one tick.

    `ticks` has, for each stage, what it does in each tick: the pass and the microbatch, or None. `most` has the most
    microbatches that each stage keeps activations of, from the start of a forward to the end of a backward pass.
    """

    ticks: list[list[tuple[str, int] | None]]
    most: list[int]

    @property
    def length(self) -> int:
        return len(self.ticks[0])


def gpipe(stages: int, microbatches: int) -> list[str]:
    """Return the passes of each stage in order: all forward, then all backward."""
    return ["F" * microbatches + "B" * microbatches] * stages


def one_forward_one_backward(stages: int, microbatches: int) -> list[str]:
    """Return the passes of each stage: forward ones until the first backward pass can run, then one of each in turn."""
    ahead = [min(stages - stage, microbatches) for stage in range(stages)]
    return ["F" * first + "BF" * (microbatches - first) + "B" * first for first in ahead]


def simulate(orders: Sequence[str]) -> Schedule:
    """Run each stage's passes in this order, each as soon as its neighbour has finished the pass that it needs."""
    stages, microbatches = len(orders), orders[0].count("F")
    # The first stage gets inputs, and the last one starts its backward pass from its own result.
    finished = {
        **{("F", -1, each): -1 for each in range(microbatches)},
        **{("B", stages, each): -1 for each in range(microbatches)},
    }
    ticks: list[list[tuple[str, int] | None]] = [[] for _ in orders]
    at, kept, most = [0] * stages, [0] * stages, [0] * stages
    tick = 0
    while min(at) < 2 * microbatches:
        for stage, order in enumerate(orders):
            now = None
            if at[stage] < len(order):
                kind = order[at[stage]]
                microbatch = order[: at[stage]].count(kind)
                if finished.get((kind, stage - 1 if kind == "F" else stage + 1, microbatch), tick) < tick:
                    now = (kind, microbatch)
                    finished[kind, stage, microbatch] = tick
                    at[stage] += 1
                    kept[stage] += 1 if kind == "F" else -1
                    most[stage] = max(most[stage], kept[stage])
            ticks[stage].append(now)
        tick += 1
    return Schedule(ticks, most)
