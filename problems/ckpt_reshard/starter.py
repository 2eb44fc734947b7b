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
    """Read one leaf of a checkpoint into a new sharding.

    Args:
      checkpoint: `checkpoint.pieces(name)` has the place of each piece in the leaf, and `checkpoint.read` reads them.
      name: the leaf to restore.
      like: its shape and dtype, and the sharding that it should have.
    Returns:
      The leaf, in this sharding. Of each piece and each distinct shard, what they have in common is read once.
    """
    raise NotImplementedError


def resume(
    saved: list[int], wanted: list[int], w: jax.Array, b: jax.Array, step: int
) -> dict[str, dict[str, dict[str, object]]]:
    """Write a state from the mesh `saved`, and restore it onto the mesh `wanted`. This function is complete."""
    state = {"w": w, "b": b, "step": np.int32(step)}
    there, here = placed(state, saved), placed(state, wanted)
    checkpoint = Checkpoint({name: jax.device_put(leaf, there[name].sharding) for name, leaf in state.items()})
    shards = {name: by_device(restore(checkpoint, name, here[name])) for name in state}
    return {"shards": shards, "reads": checkpoint.reads()}


def by_device(leaf: jax.Array) -> dict[str, object]:
    """What each device holds of a leaf. This function is complete."""
    return {f"device {shard.device.id}": np.asarray(shard.data) for shard in leaf.addressable_shards}


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
