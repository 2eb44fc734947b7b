"""The parts are joined with np.concatenate, dimension by dimension, instead of being written into an array."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

SPECS = {"w": P("x", "y"), "b": P("y"), "step": P()}


class Checkpoint:
    def __init__(self, state):
        self._pieces = {}
        for name, leaf in state.items():
            first = [shard for shard in leaf.addressable_shards if shard.replica_id == 0]
            pieces = [(in_numbers(shard.index, leaf.shape), np.asarray(shard.data)) for shard in first]
            self._pieces[name] = sorted(pieces, key=lambda piece: [part.start for part in piece[0]])
        self._reads = {name: [[] for _ in self._pieces[name]] for name in state}

    def pieces(self, name):
        return [where for where, _ in self._pieces[name]]

    def read(self, name, piece, part):
        data = self._pieces[name][piece][1]
        read = ", ".join(f"{each.start}:{each.stop}" for each in in_numbers(part, data.shape))
        self._reads[name][piece].append(f"[{read or 'all'}]")
        return data[part].copy()

    def reads(self):
        return {
            name: {f"piece {number}": " ".join(sorted(parts)) or "nothing" for number, parts in enumerate(pieces)}
            for name, pieces in self._reads.items()
        }


def restore(checkpoint, name, like):
    blocks = {}
    for index in like.sharding.devices_indices_map(like.shape).values():
        shard = in_numbers(index, like.shape)
        if bounds(shard) not in blocks:
            blocks[bounds(shard)] = jnp.asarray(joined(checkpoint, name, shard), like.dtype)

    def callback(index):
        return blocks[bounds(in_numbers(index, like.shape))]

    return jax.make_array_from_callback(like.shape, like.sharding, callback)


def bounds(shard):
    return tuple((part.start, part.stop) for part in shard)


def joined(checkpoint, name, shard):
    found = {}
    for number, piece in enumerate(checkpoint.pieces(name)):
        starts = [max(a.start, b.start) for a, b in zip(shard, piece)]
        stops = [min(a.stop, b.stop) for a, b in zip(shard, piece)]
        if all(start < stop for start, stop in zip(starts, stops)):
            part = tuple(
                slice(start - each.start, stop - each.start) for start, stop, each in zip(starts, stops, piece)
            )
            found[tuple(starts)] = checkpoint.read(name, number, part)
    # From the last dimension to the first: join what has the same place in all dimensions before it.
    for dimension in reversed(range(len(shard))):
        groups = {}
        for place in sorted(found):
            groups.setdefault(place[:dimension], []).append(found[place])
        found = {place: np.concatenate(parts, axis=dimension) for place, parts in groups.items()}
    return found[()]


def resume(saved, wanted, w, b, step):
    state = {"w": w, "b": b, "step": np.int32(step)}
    there, here = placed(state, saved), placed(state, wanted)
    checkpoint = Checkpoint({name: jax.device_put(leaf, there[name].sharding) for name, leaf in state.items()})
    restored = {name: restore(checkpoint, name, here[name]) for name in state}
    return {
        "shards": {
            name: {f"device {shard.device.id}": np.asarray(shard.data) for shard in leaf.addressable_shards}
            for name, leaf in restored.items()
        },
        "reads": checkpoint.reads(),
    }


def placed(state, sizes):
    devices = np.array(jax.devices()[: int(np.prod(sizes))])
    mesh = Mesh(devices.reshape(sizes), ("copy", "x", "y"))
    return {
        name: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=NamedSharding(mesh, SPECS[name]))
        for name, leaf in state.items()
    }


def in_numbers(index, shape):
    return tuple(slice(*each.indices(size)[:2]) for each, size in zip(index, shape, strict=True))
