"""Measure a compiled program and run it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding

from grader.core.wire import Array
from grader.program.census import census_of
from grader.program.facts import ProgramFacts, ProgramLeaf, WrittenCollective
from grader.program.graph_building import build_graph
from grader.program.hlo import Module
from grader.program.memory import Memory, memory_of
from grader.program.peak_buffers import PeakBuffers, peak_buffers
from grader.program.program_graph import ProgramGraph
from grader.program.stablehlo import ExportedProgram
from grader.program.tokens import ProgramUnreadable
from grader.verifier.load import Loaded


def facts_of(loaded: Loaded) -> ProgramFacts:
    """Collect all facts about an executable.

    Raises:
      ProgramUnreadable: its HLO is inconsistent.
    """
    compiled = loaded.compiled
    analysis = compiled.memory_analysis()
    assert analysis is not None
    inputs = zip(loaded.in_avals, loaded.in_shardings, loaded.placed, strict=True)
    made = zip(loaded.out_avals, jax.tree.leaves(compiled.output_shardings), strict=True)
    outputs = ((aval, sharding, True) for aval, sharding in made)
    return collect(loaded.mesh, inputs, outputs, memory_of(analysis), loaded.hlo, loaded.exported)


def peak_of(loaded: Loaded) -> PeakBuffers | None:
    """Return what a device keeps when temporaries take the most. Raises `ProgramUnreadable`."""
    executable: Any = loaded.compiled.runtime_executable()
    [module] = executable.hlo_modules()
    assignment = executable.get_compiled_memory_stats().serialized_buffer_assignment_proto
    return peak_buffers(assignment, module.as_serialized_hlo_module_proto(), loaded.hlo)


def graph_of(loaded: Loaded, facts: ProgramFacts) -> ProgramGraph | None:
    """Build the graph of an executable; None if it is too large to follow. Everything else is still measured."""
    try:
        return build_graph(loaded.hlo, facts.census)
    except ProgramUnreadable:
        return None


_Placed: TypeAlias = Iterable[tuple[jax.core.ShapedArray, NamedSharding, bool]]


def collect(
    mesh: Mesh, inputs: _Placed, outputs: _Placed, memory: Memory, hlo: Module, exported: ExportedProgram
) -> ProgramFacts:
    """The facts of a program that was compiled for the devices of a mesh.

    Args:
      inputs, outputs: the shape, the sharding, and whether the program itself sets that sharding.
    Raises:
      ProgramUnreadable: its HLO is inconsistent.
    """
    devices = list(mesh.devices.flat)
    return ProgramFacts(
        devices=len(devices),
        inputs=tuple(_leaf(*each, devices) for each in inputs),
        outputs=tuple(_leaf(*each, devices) for each in outputs),
        memory=memory,
        census=census_of(hlo, len(devices), dict(mesh.shape), exported=exported),
        written=tuple(
            WrittenCollective(
                each.kind,
                tuple(shape.dtype for shape in each.results),
                each.channel,
                each.place.inside * sum(shape.bytes for shape in each.operands),
            )
            for each in exported.collectives
        ),
        products_outside=sum(place.outside > 0 for place in exported.products),
        donated=len(exported.donated),
        operations=tuple(sorted(exported.operations.items())),
        written_turns=exported.turns,
        unstated_products=exported.unstated_products,
        retraced=None,
        rounded=exported.rounded,
    )


def run(loaded: Loaded, state: Sequence[Array], inputs: Sequence[Array], steps: int) -> list[dict[str, object]]:
    """Run the executable that the facts were read from.

    Args:
      state: leaves, donated to the first step; each step's new state goes into the next.
      inputs: with a state, each has a leading dimension of `steps`.
    Returns:
      One dict per step: `outputs`, the arrays in the program's order, and `replicas`, which maps the index of each
      array whose replicas wrongly differ to an array of the elements that are farthest from the first device's.
    """
    number = len(state)
    of_state, of_inputs = loaded.in_shardings[:number], loaded.in_shardings[number:]
    held_twice = [
        _is_held_twice(*each) for each in zip(loaded.out_avals, loaded.compiled.output_shardings, strict=True)
    ]
    results: list[dict[str, object]] = []
    current = list(state)
    for step in range(steps):
        arrays = [*current, *(value[step] if number else value for value in inputs)]
        outputs = list(loaded.compiled(*jax.device_put(arrays, [*of_state, *of_inputs])))
        # Steps on host devices deadlock unless each one is waited for.
        jax.block_until_ready(outputs)
        replicas = {
            str(index): other
            for index, output in enumerate(outputs)
            if held_twice[index] and (other := _differing_replica(output)) is not None
        }
        results.append({"outputs": [np.asarray(output) for output in outputs], "replicas": replicas})
        current = outputs[:number]
    return results


def _is_held_twice(aval: jax.core.ShapedArray, sharding: NamedSharding) -> bool:
    """Whether any slice of the array is on more than one device."""
    slices = sharding.devices_indices_map(tuple(aval.shape)).values()
    return len(set(map(str, slices))) < len(slices)


def _differing_replica(output: jax.Array) -> Array | None:
    """The array made of replicas that differ in some bit from the first one; None if all agree."""
    first: dict[str, Array] = {}
    widest: Array | None = None
    for shard in output.addressable_shards:
        data = np.asarray(shard.data)
        known = first.setdefault(str(shard.index), data)
        if known is data or known.tobytes() == data.tobytes():
            continue
        if widest is None:
            widest = np.array(output)
        part = widest[shard.index]
        distance, farthest = _distance(data, known), _distance(part, known)
        widest[shard.index] = np.where(distance > farthest, data, part)
    return widest


def _distance(one: Array, other: Array) -> Array:
    """The distance of each element. NaN counts as infinitely far."""
    wide = np.complex128 if np.iscomplexobj(one) else np.float64
    with np.errstate(all="ignore"):
        distance: Array = np.abs(one.astype(wide) - other.astype(wide))
    return np.nan_to_num(distance, nan=np.inf)


def _leaf(
    aval: jax.core.ShapedArray, sharding: NamedSharding, placed: bool, devices: Sequence[jax.Device]
) -> ProgramLeaf:
    indices = sharding.devices_indices_map(tuple(aval.shape))
    return ProgramLeaf(
        shape=tuple(aval.shape),
        dtype=str(aval.dtype),
        spec=_spec_text(sharding) if placed else "no sharding over the mesh",
        placed=placed,
        slices=tuple(tuple(_extents(indices[device], aval.shape)) for device in devices),
    )


def _extents(index: tuple[slice, ...], shape: Sequence[int]) -> Iterator[tuple[int, int]]:
    for part, size in zip(index, shape, strict=True):
        start, stop, _ = part.indices(size)
        yield start, stop


def _spec_text(sharding: jax.sharding.Sharding) -> str:
    spec = getattr(sharding, "spec", None)
    return f"P({', '.join(repr(part) for part in spec)})"[:200] if spec is not None else str(sharding)[:200]
