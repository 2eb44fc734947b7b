"""Batches on 8 devices of several processes. What a device holds is read from JAX's shardings, never computed here.

All devices of this program belong to one process, so the process of a device follows from its number, as the question
says.
"""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

DEVICES = 8
# For each placement of two axes: the mesh's axes, whether the devices are numbered along its columns, and the axes
# that split the rows, in order.
SPLIT_OVER_TWO = [
    ({"data": 2, "fsdp": 4}, False, ["fsdp", "data"]),
    ({"data": 4, "fsdp": 2}, False, ["fsdp", "data"]),
    ({"data": 2, "fsdp": 4}, True, ["data", "fsdp"]),
    ({"data": 4, "fsdp": 2}, True, ["data", "fsdp"]),
]
REPLICATED = [
    ({"data": 4, "model": 2}, False, ["data"]),
    ({"data": 2, "model": 4}, False, ["data"]),
    ({"data": 4, "model": 2}, True, ["data"]),
    ({"model": 2, "data": 4}, False, ["data"]),
    ({"model": 4, "data": 2}, False, ["data"]),
    ({"model": 4, "data": 2}, True, ["data"]),
    ({"data": 2, "fsdp": 2, "model": 2}, True, ["data", "fsdp"]),
    ({"model": 2, "data": 2, "fsdp": 2}, False, ["data", "fsdp"]),
    ({"data": 2, "model": 2, "fsdp": 2}, False, ["data", "fsdp"]),
    ({"data": 2, "model": 2, "fsdp": 2}, False, ["fsdp", "data"]),
]


def draw(rng):
    """A job of 2 or 4 processes, one of them, and three placements of its batch."""
    processes = int(rng.choice([2, 4, 4]))
    # How many processes hold the same rows is drawn first, because most placements would make it 2.
    two, replicated = _choice(rng, SPLIT_OVER_TWO), _choice(rng, _choice(rng, _by_copies(processes)))
    parameters = {
        "processes": processes,
        "devices": DEVICES // processes,
        "process": int(rng.integers(1, processes)),
        "rows": DEVICES * int(rng.integers(2, 13)),
        "one": _placement({"data": DEVICES}, by_columns=False, split=["data"]),
        "two": _placement(*two),
        "three": _placement(*replicated),
    }
    return parameters | {"share": parameters["rows"] // processes, "hosts": _hosts(parameters)}


def truth(parameters):
    mine = parameters["process"]
    two, three = (rows_of_processes(parameters, parameters[name]) for name in ("two", "three"))
    return {
        "one_first": min(rows_of_processes(parameters, parameters["one"])[mine]),
        "two_first": min(two[mine]),
        "two_run": runs(two[mine])[0][1] + 1 - min(two[mine]),
        "two_last": max(two[mine]),
        "three_rows": len(three[mine]),
        "three_same": sum(rows == three[mine] for rows in three),
        "three_total": sum(map(len, three)),
        "guessed": parameters["share"] * len(set(three)),
    }


def steps(parameters):
    names = ("one", "two", "three")
    rows = {name: rows_of_processes(parameters, parameters[name]) for name in names}
    mine, three = parameters["process"], rows["three"]
    table = [
        " | ".join(["|", str(process), *(in_words(rows[name][process]) for name in names), ""]).strip()
        for process in range(parameters["processes"])
    ]
    held = {name: rows_of_devices(parameters, parameters[name]) for name in names}
    mine_first = mine * parameters["devices"]
    missing = parameters["rows"] - parameters["share"] * len(set(three))
    return {
        "table": "\n".join(table),
        "own": "\n".join(
            f"| {device} | {' | '.join(in_words(held[name][device]) for name in names)} |"
            for device in range(mine_first, mine_first + parameters["devices"])
        ),
        "one_rows": in_words(rows["one"][mine]),
        "two_in_words": in_words(rows["two"][mine]),
        "three_in_words": in_words(rows["three"][mine]),
        "same": ", ".join(str(number) for number, each in enumerate(three) if each == three[mine]),
        "copies": " + ".join(str(len(each)) for each in three),
        "sets": len(set(three)),
        "missing": f"{missing} fewer than the batch" if missing else "as many as the batch",
    }


def rows_of_devices(parameters, placement):
    """The rows that each device holds, in the order of their numbers."""
    devices = jax.devices()[:DEVICES]
    sharding = NamedSharding(_mesh(devices, placement), spec_of(placement["split"]))
    held = sharding.devices_indices_map((parameters["rows"],))
    return [frozenset(range(parameters["rows"])[held[device][0]]) for device in devices]


def rows_of_processes(parameters, placement):
    """The rows that the devices of each process hold, together."""
    held, size = rows_of_devices(parameters, placement), parameters["devices"]
    return [frozenset().union(*held[first : first + size]) for first in range(0, DEVICES, size)]


def spec_of(split):
    return P(tuple(split) if len(split) > 1 else split[0])


def runs(rows):
    """The first and the last row of each run of consecutive rows, in order."""
    firsts = sorted(row for row in rows if row - 1 not in rows)
    lasts = sorted(row for row in rows if row + 1 not in rows)
    return list(zip(firsts, lasts, strict=True))


def in_words(rows):
    """Rows as ranges, such as "0 to 3, 8 to 11"."""
    return ", ".join(f"{first} to {last}" if first < last else str(first) for first, last in runs(rows))


def _mesh(devices, placement):
    sizes = tuple(placement["axes"].values())
    grid = np.array(devices)
    grid = grid.reshape(sizes[::-1]).T if placement["by_columns"] else grid.reshape(sizes)
    return Mesh(grid, tuple(placement["axes"]))


def _placement(axes, by_columns, split):
    """A mesh and a spec, and how the question writes them."""
    placement = {"axes": axes, "by_columns": by_columns, "split": split}
    sizes = tuple(axes.values())
    shaped = f".reshape{sizes[::-1]}.T" if by_columns else f".reshape{sizes}" if len(sizes) > 1 else ""
    ids = np.vectorize(lambda device: device.id)(_mesh(jax.devices()[:DEVICES], placement).devices)
    names = f'("{next(iter(axes))}",)' if len(axes) == 1 else str(tuple(axes)).replace("'", '"')
    return placement | {
        "mesh": f"Mesh(np.array(jax.devices()){shaped}, {names})",
        "ids": str(ids.tolist()),
        "spec": f"P({spec_of(split)[0]!r})".replace("'", '"'),
    }


def _by_copies(processes):
    """The placements of REPLICATED, in one list for each number of processes that hold the same rows."""
    parameters, found = {"rows": DEVICES, "devices": DEVICES // processes}, {}
    for each in REPLICATED:
        sets = rows_of_processes(parameters, dict(zip(("axes", "by_columns", "split"), each, strict=True)))
        found.setdefault(processes // len(set(sets)), []).append(each)
    return [found[copies] for copies in sorted(found)]


def _choice(rng, placements):
    return placements[int(rng.integers(len(placements)))]


def _hosts(parameters):
    return "; ".join(
        f"process {process}: devices {_devices(parameters, process)}" for process in range(parameters["processes"])
    )


def _devices(parameters, process):
    first = process * parameters["devices"]
    return f"{first} to {first + parameters['devices'] - 1}"
