"""What a device holds of a training state when fewer devices are left, for the claims and the figure of a lesson."""

from functools import cache
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

_WIDTHS = (64, 256, 256, 32)


@cache
def state_of_model() -> list[jax.Array]:
    """Return the leaves of three layers, of Adam's moments and of both step counts, on one device."""
    rngs = nnx.Rngs(0)
    layers = [nnx.Linear(*sizes, rngs=rngs) for sizes in pairwise(_WIDTHS)]
    model = nnx.Sequential(*layers)
    optimizer = nnx.Optimizer(model, optax.adam(0.1), wrt=nnx.Param)
    return [jnp.asarray(leaf) for leaf in jax.tree.leaves((nnx.state(model, nnx.Param), nnx.state(optimizer)))]


def split_over(shape: tuple[int, ...], devices: int, *, first: bool = False) -> NamedSharding:
    """Split along the largest dimension that this number of devices divides, or not at all; with `first`, the first."""
    mesh = Mesh(np.array(jax.devices()[:devices]), ("x",))
    if first:
        return NamedSharding(mesh, P("x"))
    fitting = [at for at, size in enumerate(shape) if size % devices == 0]
    if not fitting:
        return NamedSharding(mesh, P())
    at = max(fitting, key=lambda each: shape[each])
    return NamedSharding(mesh, P(*[None] * at, "x"))


def placed(state: list[jax.Array], devices: int) -> list[jax.Array]:
    return [jax.device_put(leaf, split_over(leaf.shape, devices)) for leaf in state]


@cache
def held(devices: int) -> int:
    """Return the bytes of the state that the first device holds, with this number of devices."""
    return sum(leaf.addressable_shards[0].data.nbytes for leaf in placed(state_of_model(), devices))
