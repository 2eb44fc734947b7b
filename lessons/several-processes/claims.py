"""The numbers of the lesson: the rows that processes load, from shardings on host devices that stand for theirs."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

_DEVICES = jax.devices()
_ROWS = 32


def _rows_of_processes(processes: int, axes: tuple[str, str]) -> list[frozenset[int]]:
    """The rows that the devices of each process hold, on a mesh of two by four."""
    sharding = NamedSharding(Mesh(np.array(_DEVICES).reshape(2, 4), axes), P("data"))
    places = sharding.devices_indices_map((_ROWS, 64))
    hosts = np.array(_DEVICES).reshape(processes, -1)
    return [frozenset(row for each in host for row in range(_ROWS)[places[each][0]]) for host in hosts]


def devices():
    """The devices of the programs."""
    return len(_DEVICES), "devices"


def batch_rows():
    """The rows of the global batch."""
    return _ROWS, "rows"


def rows_within():
    """The rows that each of two processes loads if the axis model runs within a process."""
    (size,) = {len(rows) for rows in _rows_of_processes(2, ("data", "model"))}
    return size, "rows"


def rows_across():
    """What both processes load together if the axis model runs across them."""
    return sum(len(rows) for rows in _rows_of_processes(2, ("model", "data"))), "rows"


def rows_of_four():
    """The rows that each of four processes loads if the axis model runs across them."""
    (size,) = {len(rows) for rows in _rows_of_processes(4, ("model", "data"))}
    return size, "rows"


def rows_of_device():
    """The rows that one device holds on that mesh."""
    sharding = NamedSharding(Mesh(np.array(_DEVICES).reshape(2, 4), ("model", "data")), P("data"))
    return sharding.shard_shape((_ROWS, 64))[0], "rows"
