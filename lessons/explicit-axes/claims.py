"""The numbers of the lesson: what reshard sends, and which error an ambiguous product raises."""

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, Mesh, NamedSharding, reshard
from jax.sharding import PartitionSpec as P

from grader.program.census import take_census
from tests.lessons.errors import error_of

_MESH = Mesh(jax.devices(), ("x",), axis_types=(AxisType.Explicit,))


def _weight() -> jax.Array:
    return jax.device_put(jnp.ones((32, 64)), NamedSharding(_MESH, P("x")))


def devices():
    """The devices of the mesh."""
    return _MESH.size, "devices"


def weight_sent():
    """What a device sends to gather the weight of the FSDP loss."""
    whole = NamedSharding(_MESH, P())
    text = jax.jit(lambda weight: reshard(weight, whole)).lower(_weight()).compile().as_text()
    (found,) = take_census(text, _MESH.size).collectives
    assert found.kind == "all-gather"
    return found.ring_bytes * found.executions, "bytes"


def shard_bytes():
    """The bytes of a device's shard of the weight."""
    return _weight().addressable_shards[0].data.nbytes, "bytes"


def weight_bytes():
    """The bytes of the whole weight."""
    return _weight().nbytes, "bytes"


def values_sent():
    """The values that a device sends to gather the weight."""
    return weight_sent()[0] // _weight().dtype.itemsize, "values"


def shards_passed():
    """The shards that a device passes on around the ring to gather the weight."""
    return weight_sent()[0] // shard_bytes()[0], "shards"


def ambiguous():
    """The error of a product whose operands are both split along the dimension that is summed."""
    a, b = (jax.device_put(jnp.ones((64, 64)), NamedSharding(_MESH, spec)) for spec in (P(None, "x"), P("x")))
    return error_of(
        lambda: a @ b, "Contracting dimensions are sharded and it is ambiguous how the output should be sharded"
    ), ""
