"""The numbers of the lesson, measured on 8 host devices."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from grader.program.census import take_census
from tests.lessons.errors import error_of

_MESH = Mesh(np.array(jax.devices()).reshape(2, 4), ("data", "model"))
_OLD = "device_put_sharded", "device_put_replicated"
_ROWS, _COLUMNS = 16, 8


def _placed(spec: P) -> jax.Array:
    return jax.device_put(jnp.zeros((_ROWS, _COLUMNS)), NamedSharding(_MESH, spec))


def _held(spec: P) -> int:
    """The bytes on one device; every device holds the same number."""
    (size,) = {shard.data.nbytes for shard in _placed(spec).addressable_shards}
    return size


def _held_by_all(spec: P) -> int:
    return sum(shard.data.nbytes for shard in _placed(spec).addressable_shards)


def _collectives(before: P, after: P) -> list[tuple[str, int]]:
    """Kind and whole bytes of each collective of a program that only changes the spec."""
    copy = jax.jit(lambda x: x, out_shardings=NamedSharding(_MESH, after))
    text = copy.lower(_placed(before)).compile().as_text()
    return [(each.kind, each.logical_bytes) for each in take_census(text, _MESH.size).collectives]


def devices():
    """The devices of the mesh."""
    return _MESH.size, "devices"


def data_size():
    """The size of the mesh axis "data"."""
    return _MESH.shape["data"], ""


def model_size():
    """The size of the mesh axis "model"."""
    return _MESH.shape["model"], ""


def same_model():
    """The devices with the position of device 5 along "model"."""
    column = np.argwhere(np.vectorize(lambda each: each.id)(_MESH.devices) == 5)[0][1]
    return len(_MESH.devices[:, column]), "devices"


def same_data():
    """The devices with the position of device 5 along "data"."""
    row = np.argwhere(np.vectorize(lambda each: each.id)(_MESH.devices) == 5)[0][0]
    return len(_MESH.devices[row]), "devices"


def others_in_column():
    """The devices with the position of device 5 along "model", without device 5."""
    return same_model()[0] - 1, "device"


def whole_bytes():
    """The bytes of the array, which has 16 rows and 8 columns of float32."""
    return _placed(P()).nbytes, "bytes"


def split_bytes():
    """The bytes of one shard of the array, split over both axes."""
    return _held(P("data", "model")), "bytes"


def rows_bytes():
    """The bytes of one shard of the array, its rows split over "data"."""
    return _held(P("data")), "bytes"


def columns_bytes():
    """The bytes of one shard of the array, its columns split over "model"."""
    return _held(P(None, "model")), "bytes"


def both_bytes():
    """The bytes of one shard of the array, its rows split over both axes."""
    return _held(P(("data", "model"))), "bytes"


def rows_copies():
    """The devices that hold the same shard as device 5, with the rows split over "data"."""
    shards = _placed(P("data")).addressable_shards
    (own,) = [shard.index for shard in shards if shard.device.id == 5]
    return sum(shard.index == own for shard in shards), "devices"


def split_total():
    """The bytes of all shards together, split over both axes."""
    return _held_by_all(P("data", "model")), "bytes"


def rows_total():
    """The bytes of all shards together, the rows split over "data"."""
    return _held_by_all(P("data")), "bytes"


def columns_total():
    """The bytes of all shards together, the columns split over "model"."""
    return _held_by_all(P(None, "model")), "bytes"


def copied_total():
    """The bytes of all copies together, if nothing is split."""
    return _held_by_all(P()), "bytes"


def gathered_bytes():
    """The bytes returned by the all_gather that turns rows split over "data" into whole copies."""
    ((kind, size),) = _collectives(P("data"), P())
    assert kind == "all-gather"
    return size, "bytes"


def collectives_to_split():
    """The collectives of the program that splits whole copies over both axes."""
    return len(_collectives(P(), P("data", "model"))), "collectives"


def collectives_to_gather():
    """The collectives of the program that turns rows split over "data" into whole copies."""
    return len(_collectives(P("data"), P())), "collective"


def _placing(shape: tuple[int, ...], spec: P, says: str) -> str:
    """The error of device_put for zeros of a shape."""
    return error_of(lambda: jax.device_put(jnp.zeros(shape), NamedSharding(_MESH, spec)), says)


def uneven_error():
    """The error of device_put for 10 values on the axis "model" of size 4."""
    return _placing((10,), P("model"), "axis 0 is partitioned 4 times, but the dimension size is 10"), ""


def sharded_error():
    """The error of jax.device_put_sharded, and of jax.device_put_replicated."""
    says = "is deprecated; use jax.device_put instead"
    found = [error_of(lambda name=name: getattr(jax, name), f"jax.{name} {says}") for name in _OLD]
    return found[0], ""


def rank_error():
    """The error of a spec whose length is written with the name rank, as in `[None] * (rank - 1)`."""
    return error_of(lambda: eval('P("model", *[None] * (rank - 1))', {"P": P}), "name 'rank' is not defined"), ""


def rows_error():
    """The error of device_put for 4 rows on "data" and "model", although "data" alone divides them."""
    return _placing((4,), P(("data", "model")), "axis 0 is partitioned 8 times, but the dimension size is 4"), ""


def two_on_four_error():
    """The error of device_put for 2 values on the axis "model" of size 4, although 2 divides 4."""
    return _placing((2,), P("model"), "axis 0 is partitioned 4 times, but the dimension size is 2"), ""


def scalar_error():
    """The error of device_put for a scalar with the spec P("model")."""
    return _placing((), P("model"), "For scalars the PartitionSpec should be P()"), ""


def twice_error():
    """The error of device_put with the spec P("data", "data")."""
    return error_of(
        lambda: _placed(P("data", "data")), "can map every mesh axis to at most one positional dimension"
    ), ""


def two_entries_error():
    """The error of device_put for a vector of 8 values with the spec P("data", "model")."""
    says = "is only valid for values of rank at least 2, but was applied to a value of rank 1"
    return _placing((8,), P("data", "model"), says), ""


def new_array_devices():
    """The devices of a new array that was not placed."""
    return len(jnp.zeros(3).devices()), "device"


def unplaced_error():
    """The error of `.sharding.spec` on a new array that was not placed."""
    return error_of(lambda: jnp.zeros(3).sharding.spec, "'SingleDeviceSharding' object has no attribute 'spec'"), ""


def make_mesh_type():
    """The type of the axes of jax.make_mesh."""
    (kind,) = set(jax.make_mesh((2, 4), ("data", "model")).axis_types)
    return kind.name, ""


def mesh_type():
    """The type of the axes of jax.sharding.Mesh."""
    (kind,) = set(_MESH.axis_types)
    return kind.name, ""


def _add_split_bias(mesh: Mesh) -> jax.Array:
    rows = jax.device_put(jnp.ones((16, 8)), NamedSharding(mesh, P("x")))
    return rows + jax.device_put(jnp.ones(8), NamedSharding(mesh, P("x")))


def explicit_error():
    """The error of rows split over "x" plus a bias split over "x", on Explicit axes."""
    mesh = jax.make_mesh((8,), ("x",))
    return error_of(lambda: _add_split_bias(mesh), "produces an illegally sharded result: f32[16@x,8@x]"), ""


def auto_error():
    """The error of that sum on Auto axes, where there is none."""
    _add_split_bias(jax.make_mesh((8,), ("x",), axis_types=(AxisType.Auto,)))
    return "no error", ""
