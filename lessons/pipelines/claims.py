"""The numbers of the lesson: pipelines compiled for host devices, and schedules of both passes that are simulated."""

from collections.abc import Callable
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from tests.lessons.errors import error_of
from tests.lessons.pipelines import Schedule, gpipe, one_forward_one_backward, simulate
from tests.lessons.references import reference, starter

_PROBLEM = "gpipe_forward"
# The stages and microbatches of the gradient. Simulated schedules use those of gpipe_forward.
_STAGES, _MICROBATCHES = 4, 8
_LAYERS, _WIDTH, _ROWS = 16, 64, 128


@cache
def _simulated(orders: Callable[[int, int], list[str]]) -> Schedule:
    return simulate(orders(devices()[0], microbatches()[0]))


@cache
def _temporaries(microbatches: int, *, again: bool = False) -> int:
    """Return one device's temporary buffers in the gradient of GPipe. With `again`, stages compute layers twice."""
    mesh = Mesh(np.array(jax.devices()[:_STAGES]), ("stage",))
    pairs = [(stage, stage + 1) for stage in range(_STAGES - 1)]

    def apply(w, h):
        for layer in w:
            h = jnp.tanh(h @ layer)
        return h

    def gradient(w, batches):
        stage = lax.axis_index("stage")

        def loss(w):
            def tick(arrived, t):
                h = jnp.where(stage == 0, batches[jnp.minimum(t, microbatches - 1)], arrived)
                h = (jax.checkpoint(apply) if again else apply)(w, h)
                return lax.ppermute(h, "stage", pairs), h

            nothing = lax.pcast(jnp.zeros_like(batches[0]), "stage", to="varying")
            _, out = lax.scan(tick, nothing, jnp.arange(microbatches + _STAGES - 1))
            mean = jnp.mean(out[_STAGES - 1 :] ** 2)
            return lax.psum(jnp.where(stage == _STAGES - 1, mean, 0), "stage")

        return jax.grad(loss)(w)

    mapped = jax.shard_map(gradient, mesh=mesh, in_specs=(P("stage"), P()), out_specs=P("stage"))
    w = jax.ShapeDtypeStruct((_LAYERS, _WIDTH, _WIDTH), jnp.float32)
    batches = jax.ShapeDtypeStruct((microbatches, _ROWS, _WIDTH), jnp.float32)
    return jax.jit(mapped).lower(w, batches).compile().memory_analysis().temp_size_in_bytes


def devices():
    """The devices of the mesh of gpipe_forward, one for each stage."""
    return reference(_PROBLEM).measured.facts.devices, "devices"


def microbatches():
    """The microbatches in the first case of gpipe_forward: the ticks in which the last stage has one."""
    return ticks()[0] - (devices()[0] - 1), "microbatches"


def ticks():
    """How often the reference of gpipe_forward sends with 12 microbatches: once in each tick."""
    return reference(_PROBLEM).permute.executions, "ticks"


def sent_each():
    """What one device sends in a tick: one microbatch."""
    return reference(_PROBLEM).permute.each // len(jax.devices()), "bytes"


def sent():
    """What one device sends to the next in all ticks."""
    return reference(_PROBLEM).permute.bytes // len(jax.devices()), "bytes"


def starter_permutes():
    """The collective_permutes of the starter, which scans over layers that are split over the axis."""
    return starter(_PROBLEM).permute.executions, "collective_permutes"


def starter_gathered():
    """The bytes of all layers, which the starter gathers on each device."""
    return starter(_PROBLEM).gather.bytes, "bytes"


def starter_times():
    """The FLOPs of one device in the starter, over its share of the model's FLOPs."""
    program = starter(_PROBLEM)
    return program.flops * program.measured.facts.devices // _model_flops(), "times"


def _model_flops() -> int:
    """Return the FLOPs of 12 microbatches of 24 rows through 16 layers of 96 by 96 numbers."""
    return 12 * 16 * 2 * 24 * 96 * 96


def placed_error():
    """The error of jit for two weights that were put on different devices."""
    first, second = (jax.device_put(jnp.ones((4, 4)), device) for device in jax.devices()[:2])
    product = jax.jit(lambda x, a, b: x @ a @ b)
    says = "Received incompatible devices for jitted computation"
    return error_of(lambda: product(jnp.ones((2, 4)), first, second), says), ""


def scan_error():
    """The error of lax.scan as a decorator with a length."""
    decorated = partial(lax.scan, length=4)
    return error_of(
        lambda: decorated(lambda carry, x: (carry, x)), "missing 1 required positional argument: 'init'"
    ), ""


def flops():
    """The FLOPs of one device in the reference, with 12 microbatches."""
    return reference(_PROBLEM).flops, "FLOPs"


def useful():
    """One device's share of the FLOPs of the model."""
    return _model_flops() // len(jax.devices()), "FLOPs"


def idle():
    """The part of the executed FLOPs that is not useful."""
    return 100 * (1 - useful()[0] / flops()[0]), "%"


def temporaries():
    """The temporary buffers of one device in the gradient of a GPipe forward pass on 4 devices, with 8 microbatches."""
    return _temporaries(_MICROBATCHES), "bytes"


def temporaries_of_more():
    """The temporary buffers with 16 microbatches of the same size."""
    return _temporaries(2 * _MICROBATCHES), "bytes"


def temporaries_again():
    """The temporary buffers with 16 microbatches and jax.checkpoint around the layers of a stage."""
    return _temporaries(2 * _MICROBATCHES, again=True), "bytes"


def gpipe_ticks():
    """The ticks of GPipe with both passes, simulated with the stages and microbatches of gpipe_forward."""
    return _simulated(gpipe).length, "ticks"


def gpipe_first():
    """The most microbatches that the first stage of GPipe keeps activations of."""
    return _simulated(gpipe).most[0], "microbatches"


def gpipe_last():
    """The most microbatches that the last stage of GPipe keeps activations of."""
    return _simulated(gpipe).most[-1], "microbatches"


def alternating_ticks():
    """The ticks of 1F1B with the same stages and microbatches."""
    return _simulated(one_forward_one_backward).length, "ticks"


def alternating_first():
    """The most microbatches that the first stage of 1F1B keeps activations of."""
    return _simulated(one_forward_one_backward).most[0], "microbatches"


def alternating_last():
    """The most microbatches that the last stage of 1F1B keeps activations of."""
    return _simulated(one_forward_one_backward).most[-1], "microbatch"


def ticks_on_four():
    """How often the reference of gpipe_forward sends on 4 devices, with 12 microbatches."""
    return reference(_PROBLEM, 4).permute.executions, "ticks"
