"""Read what every shard and every piece have in common, once for all devices that hold a copy of the shard."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

Part = tuple[slice, ...]  # one slice per dimension

SPECS = {"w": P("x", "y"), "b": P("y"), "step": P()}


class Checkpoint:
    """What the devices of one mesh wrote: each leaf in pieces, one for each distinct shard. This class is complete."""

    def __init__(self, state: dict[str, jax.Array]) -> None:
        self._pieces: dict[str, list[tuple[Part, np.ndarray]]] = {}
        for name, leaf in state.items():
            first = [shard for shard in leaf.addressable_shards if shard.replica_id == 0]
            pieces = [(in_numbers(shard.index, leaf.shape), np.asarray(shard.data)) for shard in first]
            self._pieces[name] = sorted(pieces, key=lambda piece: [part.start for part in piece[0]])
        self._reads: dict[str, list[list[str]]] = {name: [[] for _ in self._pieces[name]] for name in state}

    def pieces(self, name: str) -> list[Part]:
        """The place of each piece in the leaf: slices that have a start and a stop, one per dimension."""
        return [where for where, _ in self._pieces[name]]

    def read(self, name: str, piece: int, part: Part) -> np.ndarray:
        """Read a part of a piece. `part` counts from the beginning of the piece, not of the leaf."""
        data = self._pieces[name][piece][1]
        read = ", ".join(f"{each.start}:{each.stop}" for each in in_numbers(part, data.shape))
        self._reads[name][piece].append(f"[{read or 'all'}]")
        return data[part].copy()

    def reads(self) -> dict[str, dict[str, str]]:
        """All parts that were read of each piece, as text."""
        return {
            name: {f"piece {number}": " ".join(sorted(parts)) or "nothing" for number, parts in enumerate(pieces)}
            for name, pieces in self._reads.items()
        }


def restore(checkpoint: Checkpoint, name: str, like: jax.ShapeDtypeStruct) -> jax.Array:
    """Read a leaf into the sharding of `like`: each distinct shard once, whatever the number of its copies."""
    blocks: dict[tuple[tuple[int, int], ...], np.ndarray] = {}

    def block_of(index: Part) -> np.ndarray:
        shard = in_numbers(index, like.shape)
        key = tuple((part.start, part.stop) for part in shard)
        if key not in blocks:
            blocks[key] = assemble(checkpoint, name, shard, like.dtype)
        return blocks[key]

    return jax.make_array_from_callback(like.shape, like.sharding, block_of)


def assemble(checkpoint: Checkpoint, name: str, shard: Part, dtype: np.dtype) -> np.ndarray:
    """Read what each piece has in common with a shard, and put it into its place."""
    block = np.empty([part.stop - part.start for part in shard], dtype)
    for number, piece in enumerate(checkpoint.pieces(name)):
        both = [slice(max(a.start, b.start), min(a.stop, b.stop)) for a, b in zip(shard, piece, strict=True)]
        if all(part.start < part.stop for part in both):
            block[moved(both, shard)] = checkpoint.read(name, number, moved(both, piece))
    return block


def moved(parts: list[slice], box: Part) -> Part:
    """Parts of the leaf, counted from the beginning of a box."""
    return tuple(slice(part.start - b.start, part.stop - b.start) for part, b in zip(parts, box, strict=True))


def resume(
    saved: list[int], wanted: list[int], w: jax.Array, b: jax.Array, step: int
) -> dict[str, dict[str, dict[str, object]]]:
    """Write a state from the mesh `saved`, and restore it onto the mesh `wanted`. This function is complete."""
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


def placed(state: dict[str, jax.Array], sizes: list[int]) -> dict[str, jax.ShapeDtypeStruct]:
    """The shape, dtype and sharding of each leaf on a mesh of these sizes. This function is complete."""
    devices = np.array(jax.devices()[: int(np.prod(sizes))])
    mesh = Mesh(devices.reshape(sizes), ("copy", "x", "y"))
    return {
        name: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=NamedSharding(mesh, SPECS[name]))
        for name, leaf in state.items()
    }


def in_numbers(index: Part, shape: tuple[int, ...]) -> Part:
    """Slices that have a start and a stop: of 24 rows, `slice(None)` is `slice(0, 24)`. This function is complete."""
    return tuple(slice(*each.indices(size)[:2]) for each, size in zip(index, shape, strict=True))
