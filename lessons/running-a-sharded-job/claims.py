"""The numbers of the lesson: compilations, values, shardings and bytes on host devices. No time is measured."""

from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from tests.lessons.errors import error_of
from tests.lessons.state_on_fewer_devices import held, placed, split_over, state_of_model

_MESH = Mesh(jax.devices(), ("x",))
_ROWS = NamedSharding(_MESH, P("x"))
_LATER_STEPS = 25
# Steps of Adam before the restore.
_BEFORE = 100
# What JAX calls the event of a compilation.
_COMPILED = "/jax/core/compile/backend_compile_duration"


@cache
def _compilations() -> tuple[int, int]:
    """How many programs are compiled in the first step of a loop, and in all later ones."""
    events: list[str] = []
    jax.monitoring.register_event_duration_secs_listener(lambda name, _, **__: events.append(name))
    step = jax.jit(lambda w: jnp.tanh(w @ w.T), out_shardings=_ROWS)
    w = jax.block_until_ready(jax.device_put(jnp.ones((256, 256)), _ROWS))
    events.clear()
    w = jax.block_until_ready(step(w))
    first = events.count(_COMPILED)
    for _ in range(_LATER_STEPS):
        w = jax.block_until_ready(step(w))
    return first, events.count(_COMPILED) - first


@cache
def _losses(*, moments: bool) -> tuple[float, float]:
    """The losses of two steps after some others and a restore, with Adam's moments or with new ones."""
    keys = jax.random.split(jax.random.key(0), 3)
    rows, targets = jax.random.normal(keys[0], (64, 32)), jax.random.normal(keys[1], (64, 8))
    tx = optax.adam(0.05)

    @jax.jit
    def step(w: jax.Array, state: Any) -> tuple[jax.Array, Any, jax.Array]:
        loss, slope = jax.value_and_grad(lambda w: jnp.mean((rows @ w - targets) ** 2))(w)
        updates, state = tx.update(slope, state)
        return optax.apply_updates(w, updates), state, loss

    w = jax.device_put(jax.random.normal(keys[2], (32, 8)), _ROWS)
    state = tx.init(w)
    for _ in range(_BEFORE):
        w, state, _ = step(w, state)
    if not moments:
        state = tx.init(w)
    w, state, first = step(w, state)
    _, _, second = step(w, state)
    # The last digits depend on the order of summation.
    return round(float(first), 4), round(float(second), 4)


@cache
def _costs() -> list[str]:
    """Return the names of the entries of cost_analysis() for a step with an all_reduce."""
    reduced = jax.shard_map(lambda x: lax.psum(x, "x"), mesh=_MESH, in_specs=P("x"), out_specs=P())
    compiled = jax.jit(reduced).lower(jnp.ones((64, 64))).compile()
    assert " all-reduce(" in compiled.as_text()
    return list(compiled.cost_analysis())


def devices():
    """The devices of the mesh."""
    return _MESH.size, "devices"


def undefined_error():
    """The error of tracing a step that returns a name that is not defined. Defining and jitting it raises none."""

    @jax.jit
    def step(w):
        return full_grads  # noqa: F821

    return error_of(lambda: jax.eval_shape(step, jnp.ones(8)), "name 'full_grads' is not defined"), ""


def unpack_error():
    """The error of unpacking the three results of a step into two names."""

    def profile() -> None:
        _state, _loss = jax.jit(lambda w: (w, w.sum(), {"accuracy": w.max()}))(jnp.ones(8))

    return error_of(profile, "too many values to unpack"), ""


def compiled_first():
    """The programs that the first step of a timed loop compiles."""
    return _compilations()[0], "program"


def later_steps():
    """The steps of that loop after the first one."""
    return _LATER_STEPS, "steps"


def compiled_later():
    """The programs that the later steps of that loop compile."""
    return _compilations()[1], "programs"


def cost_entries():
    """The entries of cost_analysis() of a step with an all_reduce."""
    return len(_costs()), "entries"


def cost_collectives():
    """The entries of cost_analysis() that are about communication."""
    words = "collective", "reduce", "gather", "communicat", "network", "transfer", "link"
    return sum(any(word in name.lower() for word in words) for name in _costs()), ""


def resumed_loss():
    """The loss of the first step after a restore, with Adam's moments and without."""
    (loss,) = {_losses(moments=moments)[0] for moments in (True, False)}
    return loss, ""


def loss_with_moments():
    """The loss of the second step after a restore with Adam's moments."""
    return _losses(moments=True)[1], ""


def loss_without_moments():
    """The loss of the second step after a restore without Adam's moments."""
    return _losses(moments=False)[1], ""


def uneven_error():
    """The error of placing a batch of 64 rows on 7 devices."""
    split = split_over((64, 64), 7, first=True)
    says = "axis 0 is partitioned 7 times, but the dimension size is 64"
    return error_of(lambda: jax.device_put(jnp.ones((64, 64)), split), says), ""


def leaves():
    """The leaves of a model of three layers with its Adam state, none of which can be split over 6 devices."""
    found = state_of_model()
    assert all(split_over(leaf.shape, 6).is_fully_replicated for leaf in found)
    return len(found), "leaves"


def state_on_eight():
    """What a device holds of these leaves on 8 devices."""
    return held(8), "bytes"


def state_on_six():
    """What a device holds of these leaves on 6 devices: everything."""
    assert held(6) == sum(leaf.nbytes for leaf in state_of_model())
    return held(6), "bytes"


def state_on_four():
    """What a device holds of these leaves after they were moved from 8 devices to 4, with equal values."""
    before = placed(state_of_model(), 8)
    after = placed(before, 4)
    assert all((np.asarray(old) == np.asarray(new)).all() for old, new in zip(before, after, strict=True))
    return held(4), "bytes"


def state_quartered():
    """A quarter of what a device holds of these leaves on 8 devices."""
    return held(8) // 4, "bytes"


def state_on_two():
    """What a device holds of these leaves on 2 devices."""
    return held(2), "bytes"
