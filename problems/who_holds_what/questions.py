"""Placements of a matrix on 8 devices. What a device holds is read from JAX's shardings, never computed here."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

DEVICES = 8
MESHES = [
    {"fsdp": 8},
    {"data": 2, "model": 4},
    {"data": 4, "model": 2},
    {"data": 2, "fsdp": 4},
    {"data": 4, "fsdp": 2},
]


def draw(rng):
    """A mesh, a matrix and its placement, a device, and a second placement whose spec is asked for."""
    axes = MESHES[int(rng.integers(len(MESHES)))]
    rows, columns = (DEVICES * int(each) for each in rng.choice(np.arange(2, 12), 2, replace=False))
    given, wanted = rng.choice(len(placements(axes)), 2, replace=False)
    parameters = {
        "axes": axes,
        "rows": rows,
        "columns": columns,
        "entries": placements(axes)[given],
        "device": int(rng.integers(1, DEVICES)),
    }
    sizes, names = tuple(axes.values()), tuple(axes)
    held = slices(parameters, placements(axes)[wanted])
    return parameters | {
        "spec": text(spec_of(parameters["entries"])),
        "mesh_code": f"Mesh(np.array(jax.devices()).reshape{sizes}, {names})",
        "mesh_ids": str(np.arange(DEVICES).reshape(sizes).tolist()),
        "wanted": {f"device{number}": in_words(each) for number, each in enumerate(held)},
    }


def truth(parameters):
    """The spec is the only one that gives the second placement."""
    fitting = [
        entries
        for entries in placements(parameters["axes"])
        if {f"device{number}": in_words(each) for number, each in enumerate(slices(parameters, entries))}
        == parameters["wanted"]
    ]
    (only,) = fitting
    return seen(parameters) | {"spec": spec_of(only)}


def steps(parameters):
    """What explanation.md says about these numbers."""
    names, sizes = tuple(parameters["axes"]), tuple(parameters["axes"].values())
    device, mine = parameters["device"], seen(parameters)
    coordinates = [int(each[0]) for each in np.nonzero(np.arange(DEVICES).reshape(sizes) == device)]
    held = slices(parameters, parameters["entries"])
    first_row, last_column = mine["first_row"], mine["last_column"]
    first_column = last_column + 1 - mine["shard_columns"]
    entries = [*parameters["entries"], [], []][:2]
    unused = [name for name in names if not any(name in entry for entry in entries)]
    return {
        "coordinates": " and ".join(f"`{name}` = {at}" for name, at in zip(names, coordinates, strict=True)),
        "rows_divided": _division(parameters["axes"], entries[0], "row", parameters["rows"], mine["shard_rows"]),
        "columns_divided": _division(
            parameters["axes"], entries[1], "column", parameters["columns"], mine["shard_columns"]
        ),
        "row_block": first_row // mine["shard_rows"],
        "column_block": first_column // mine["shard_columns"],
        "row_order": _order(entries[0]),
        "column_order": _order(entries[1]),
        "last_row": first_row + mine["shard_rows"] - 1,
        "first_column": first_column,
        "unused": " or ".join(f"`{name}`" for name in unused) or "no axis: the spec names all of them",
        "same": ", ".join(str(number) for number, each in enumerate(held) if each == held[device]),
        "held": {f"device{number}": in_words(each) for number, each in enumerate(held)},
        "along": "\n".join(_along(parameters)),
    }


def placements(axes):
    """The placements of a matrix on this mesh: for each dimension the names of the axes that divide it, in order."""
    if len(axes) == 1:
        (only,) = axes
        return [[[], []], [[only], []], [[], [only]]]
    one, two = axes
    dims = [[one], [two], [one, two], [two, one]]
    return [*([each, []] for each in dims), *([[], each] for each in dims), [[one], [two]], [[two], [one]]]


def slices(parameters, entries, order="C"):
    """What each device holds, in the order of their numbers: the first row, the row after the last, and the columns.

    `order` is how `reshape` numbers the mesh: "C" along its last axis first, as always, or "F" along its first one.
    """
    axes, shape = parameters["axes"], (parameters["rows"], parameters["columns"])
    devices = np.array(jax.devices()[:DEVICES])
    mesh = Mesh(devices.reshape(tuple(axes.values()), order=order), tuple(axes))
    held = NamedSharding(mesh, spec_of(entries)).devices_indices_map(shape)
    return [tuple(one.indices(size)[:2] for one, size in zip(held[each], shape, strict=True)) for each in devices]


def seen(parameters, entries=None, order="C"):
    """All answers but the spec, for a placement; by default the one in question."""
    held = slices(parameters, parameters["entries"] if entries is None else entries, order)
    mine = held[parameters["device"]]
    same = [number for number, each in enumerate(held) if each == mine]
    (first_row, end_row), (first_column, end_column) = mine
    return {
        "shard_rows": end_row - first_row,
        "shard_columns": end_column - first_column,
        "first_row": first_row,
        "last_column": end_column - 1,
        "copies": len(same),
        "highest": max(same),
    }


def spec_of(entries):
    return P(*(tuple(each) if len(each) > 1 else each[0] if each else None for each in entries))


def text(spec):
    return f"P({', '.join(repr(each) for each in spec)})"


def in_words(held):
    (first_row, end_row), (first_column, end_column) = held
    return f"{first_row} to {end_row - 1} | {first_column} to {end_column - 1}"


def _division(axes, entry, unit, size, of_one):
    if not entry:
        return f"`None`, so the {unit}s are not divided: each device has all {size}"
    named = " and ".join(f"`{name}`" for name in entry)
    product = " \N{MULTIPLICATION SIGN} ".join(str(axes[name]) for name in entry)
    parts = f"{product} = {size // of_one}" if len(entry) > 1 else product
    return f"{named}, so the {size} {unit}s are divided into {parts} blocks of {of_one}"


def _along(parameters):
    """What changes in the second placement on one step along each axis, from device 0."""
    numbers = np.arange(DEVICES).reshape(tuple(parameters["axes"].values()))
    for dim, name in enumerate(parameters["axes"]):
        step = [0] * numbers.ndim
        step[dim] = 1
        device = int(numbers[tuple(step)])
        before, after = (parameters["wanted"][f"device{each}"].split(" | ") for each in (0, device))
        changes = [
            f"the {unit} change from {old} to {new}"
            for unit, old, new in zip(("rows", "columns"), before, after, strict=True)
            if old != new
        ]
        change = changes[0] if changes else "nothing changes"
        yield f"- One step along `{name}`, from device 0 to device {device}: {change}."


def _order(entry):
    if not entry:
        return "the only one"
    if len(entry) == 1:
        return f"its coordinate along `{entry[0]}`"
    return f"counted first along `{entry[1]}`, then along `{entry[0]}`, because `{entry[0]}` comes first in the entry"
