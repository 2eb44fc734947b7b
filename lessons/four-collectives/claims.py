"""The numbers of the lesson, measured on 8 host devices."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from grader.program.census import take_census
from tests.lessons.errors import error_of

_MESH = Mesh(jax.devices(), ("x",))
_ROWS, _COLUMNS = 64, 16
Body = Callable[[jax.Array], jax.Array]


def _program(body: Body, before: P, after: P) -> Callable[[jax.Array], jax.Array]:
    return jax.jit(jax.shard_map(body, mesh=_MESH, in_specs=before, out_specs=after, check_vma=False))


def _compiled(body: Body, before: P, after: P, x: jax.Array) -> tuple[str, int, int]:
    """Return the only collective's kind, its whole bytes, and the bytes that one device sends around a ring."""
    placed = jax.device_put(x, NamedSharding(_MESH, before))
    text = _program(body, before, after).lower(placed).compile().as_text()
    (found,) = take_census(text, _MESH.size).collectives
    return found.kind, found.logical_bytes, found.ring_bytes


def _array() -> jax.Array:
    return jnp.zeros((_ROWS, _COLUMNS))


def _terms() -> jax.Array:
    """Return one array of that shape for each device, to be summed."""
    return jnp.zeros((_MESH.size, _ROWS, _COLUMNS))


def _gather() -> tuple[str, int, int]:
    return _compiled(lambda shard: lax.all_gather(shard, "x", tiled=True), P("x"), P(), _array())


def _scatter() -> tuple[str, int, int]:
    return _compiled(lambda term: lax.psum_scatter(term[0], "x", tiled=True), P("x"), P("x"), _terms())


def _reduce() -> tuple[str, int, int]:
    return _compiled(lambda term: lax.psum(term[0], "x"), P("x"), P(), _terms())


def _to_all() -> tuple[str, int, int]:
    return _compiled(lambda shard: lax.all_to_all(shard, "x", 1, 0, tiled=True), P("x"), P(None, "x"), _array())


def devices():
    """The devices of the mesh."""
    return _MESH.size, "devices"


def whole_bytes():
    """The bytes of the array, which has 64 rows and 16 columns of float32."""
    return _array().nbytes, "bytes"


def shard_bytes():
    """The bytes of one shard of the array, whose rows are split over all devices."""
    placed = jax.device_put(_array(), NamedSharding(_MESH, P("x")))
    return placed.addressable_shards[0].data.nbytes, "bytes"


def gather_sent():
    """What one device sends around a ring for the all_gather of the array."""
    kind, _, sent = _gather()
    assert kind == "all-gather"
    return sent, "bytes"


def scatter_sent():
    """What one device sends around a ring for the reduce_scatter of the array."""
    kind, _, sent = _scatter()
    assert kind == "reduce-scatter"
    return sent, "bytes"


def reduce_sent():
    """What one device sends around a ring for the all_reduce of the array."""
    kind, _, sent = _reduce()
    assert kind == "all-reduce"
    return sent, "bytes"


def to_all_sent():
    """What one device sends for the all_to_all of the array."""
    kind, _, sent = _to_all()
    assert kind == "all-to-all"
    return sent, "bytes"


def reduce_over_gather():
    """The bytes sent for an all_reduce, over those for an all_gather."""
    return _reduce()[2] // _gather()[2], "times"


def scatter_over_gather():
    """The bytes sent for a reduce_scatter, over those for an all_gather."""
    times, rest = divmod(scatter_sent()[0], gather_sent()[0])
    assert rest == 0
    return times, "times"


def gather_over_shard():
    """The bytes sent for the all_gather, over those of a shard."""
    times, rest = divmod(gather_sent()[0], shard_bytes()[0])
    assert rest == 0
    return times, "times"


def stacked_dimensions():
    """The dimensions of the result of all_gather for a vector, without tiled."""
    return _program(lambda shard: lax.all_gather(shard, "x"), P("x"), P())(jnp.zeros(16)).ndim, "dimensions"


def tiled_dimensions():
    """The dimensions of the result of all_gather for a vector, with tiled=True."""
    return _program(lambda shard: lax.all_gather(shard, "x", tiled=True), P("x"), P())(jnp.zeros(16)).ndim, "dimension"


def untiled_scatter_error():
    """The error of psum_scatter without tiled, for a vector of 16."""
    terms = jnp.zeros((_MESH.size, 16))
    scattered = _program(lambda term: lax.psum_scatter(term[0], "x"), P("x"), P("x"))
    return error_of(lambda: scattered(terms), "scatter dimension size 16 must match shard count 8"), ""


def sum_over_mean():
    """A value that reduce_scatter returns, over the mean of the devices' terms."""
    terms = jnp.arange(float(_MESH.size * 16)).reshape(_MESH.size, 16) + 1
    total = _program(lambda term: lax.psum_scatter(term[0], "x", tiled=True), P("x"), P("x"))(terms)
    (ratio,) = {round(float(each)) for each in total / terms.mean(axis=0)}
    return ratio, "times"


def outside_error():
    """The error of psum in a function that is jitted, but not in shard_map."""
    return error_of(lambda: jax.jit(lambda x: lax.psum(x, "x"))(jnp.zeros(16)), "Found an unbound axis name: x"), ""
