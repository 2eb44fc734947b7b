"""Quantities of compiled programs, by the names under which tests/problems/numbers asks for them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from grader.core.case import Case
from grader.modes.program.signatures import Signature, signatures_of
from grader.program.collective_uses import CollectiveUse, collectives_of
from grader.program.measurement import Artifact, Measured
from grader.program.memory import Memory
from grader.review.reader import read_package
from grader.runner.export import export_program
from grader.runner.submission import Submission
from grader.verifier.load import load
from grader.verifier.measure import facts_of


@dataclass(frozen=True)
class Traffic:
    """Some collectives of one program. Bytes are those of whole tensors; `sent` is by one device around a ring."""

    said: Sequence[CollectiveUse]

    @property
    def bytes(self) -> int:
        return sum(each.total_bytes for each in self.said)

    @property
    def each(self) -> int:
        """The bytes of one execution, if all executions move as many."""
        (size,) = {each.logical_bytes for each in self.said}
        return size

    @property
    def sent(self) -> int:
        return sum(each.ring_bytes * (each.executions or 0) for each in self.said)

    @property
    def executions(self) -> int:
        return sum(each.executions or 0 for each in self.said)

    @property
    def in_loops(self) -> "Traffic":
        return Traffic([each for each in self.said if each.in_loop])

    @property
    def outside_loops(self) -> "Traffic":
        return Traffic([each for each in self.said if not each.in_loop])

    def __iter__(self) -> Iterator[CollectiveUse]:
        return iter(self.said)


@dataclass(frozen=True)
class Program:
    """One program on one mesh."""

    measured: Measured

    @property
    def arguments(self) -> int:
        return self.measured.facts.memory.argument_bytes

    @property
    def outputs(self) -> int:
        return self.measured.facts.memory.output_bytes

    @property
    def temporaries(self) -> int:
        return self.measured.facts.memory.temporary_bytes

    @property
    def overwritten(self) -> int:
        """The bytes of outputs that reuse the memory of donated arguments."""
        return self.measured.facts.memory.alias_bytes

    @property
    def needed(self) -> int:
        """The bytes that a device holds while the program runs, counting memory that is overwritten in place once."""
        return self.arguments + self.outputs - self.overwritten + self.temporaries

    @property
    def flops(self) -> int:
        flops = self.measured.facts.census.dot_flops
        assert flops is not None
        return flops

    @property
    def products(self) -> int:
        """Matrix products in the program, each once, however often its loop runs."""
        return len(self.measured.facts.census.dots)

    @property
    def state(self) -> int:
        """Bytes of state on the fullest device."""
        return max(self.measured.state_bytes(device) for device in range(self.measured.facts.devices))

    def whole(self, prefix: str = "") -> int:
        """The whole bytes of the state's leaves whose paths begin with one of these."""
        return sum(leaf.whole_bytes for path, leaf in self.measured.state_in if path.startswith(prefix))

    def held(self, prefix: str = "") -> int:
        """The bytes that device 0 holds of these leaves."""
        return sum(leaf.held_bytes(0) for path, leaf in self.measured.state_in if path.startswith(prefix))

    def out(self, path: str) -> int:
        """The bytes that device 0 holds of an output."""
        return next(leaf.held_bytes(0) for name, leaf in self.measured.out if name == path)

    @property
    def born(self) -> Memory:
        """The memory that `init` needs on a device, if the problem exports it."""
        assert self.measured.init is not None
        return self.measured.init.memory

    @property
    def peak(self) -> int:
        """The bytes that `init` needs on a device: its outputs and its temporaries."""
        return self.born.output_bytes + self.born.temporary_bytes

    @property
    def born_with(self) -> int:
        """How many collectives `init` executes."""
        assert self.measured.init is not None
        return sum(each.executions or 0 for each in self.measured.init.census.collectives)

    def traffic(self, kind: str, *axes: str, at_least: int = 0) -> Traffic:
        """The collectives of a kind, optionally only those over these axes, or of this many bytes."""
        said = [each for each in collectives_of(self.measured) if each.kind == kind and each.logical_bytes >= at_least]
        return Traffic([each for each in said if not axes or each.axes == axes])

    def written(self, *kinds: str, dtype: str = "") -> int:
        """The bytes that one device passes to written collectives of these kinds, of one HLO dtype or of any."""
        found = [each for each in self.measured.facts.written if each.kind in kinds]
        return sum(each.operand_bytes for each in found if not dtype or set(each.dtypes) == {dtype})

    @property
    def gather(self) -> Traffic:
        return self.traffic("all-gather")

    @property
    def scatter(self) -> Traffic:
        return self.traffic("reduce-scatter")

    @property
    def reduce(self) -> Traffic:
        return self.traffic("all-reduce")

    @property
    def permute(self) -> Traffic:
        return self.traffic("collective-permute")

    @property
    def to_all(self) -> Traffic:
        return self.traffic("all-to-all")


class Programs:
    """The programs of a problem, compiled on first use by the code that runs inside the walls, but without walls."""

    def __init__(self, folder: Path) -> None:
        self._package = read_package(folder)
        self._cases = _cases(self._package.cases)
        self._compiled = cache(self._compile)

    @property
    def meshes(self) -> list[list[int]]:
        """The sizes of the axes of each mesh."""
        return [list(mesh.values()) for mesh in self._package.manifest.program.meshes]

    def case(self, case: str, devices: int | tuple[int, ...]) -> Program:
        """The reference's program for a case: `public-1`, `hidden-2`.

        Args:
          devices: of the mesh, or the sizes of its axes. Several may have as many devices: the first is taken.
        """
        return self._compiled("reference", case, devices)

    def other(self, name: str, devices: int = 8, case: str = "public-1") -> Program:
        """The program of one of the package's submissions, such as `accepted/auto_jit`."""
        return self._compiled(f"submissions/{name}", case, devices)

    def kept(self, devices: int = 8) -> Program:
        """The reference's program for the first public case, compiled without donating the state."""
        return self._compiled("reference", "public-1", devices, donated=False)

    def starter(self) -> Program:
        """On 8 devices."""
        return self._compiled("starter", "public-1", 8)

    @property
    def m8(self) -> Program:
        return self.case("public-1", 8)

    @property
    def m4(self) -> Program:
        return self.case("public-1", 4)

    def step(self, source: str, mesh: dict[str, int], specs: dict[str, list[str | None]]) -> Program:
        """The program of another `init` and `step` for the first public case, on another mesh."""
        form = self.signature("public-1")
        args = tuple(arg | {"spec": specs[name]} for name, arg in zip(form.inputs, form.args, strict=True))
        return self._program(source, mesh, replace(form, args=args))

    def at_full_size(self, name: str) -> Program:
        """The program of a file (without `.py`) at `[program.full_size]`. JAX needs as many devices as its mesh has."""
        full, form = self._package.manifest.program.full_size, self.signature("public-1")
        args = tuple(arg | {"shape": full.shapes[path]} for path, arg in zip(form.inputs, form.args, strict=True))
        return self._program(self._package.files[f"{name}.py"], full.mesh, replace(form, args=args))

    def _compile(self, name: str, case: str, devices: int | tuple[int, ...], *, donated: bool = True) -> Program:
        meshes = self._package.manifest.program.meshes
        mesh = next(mesh for mesh in meshes if devices in (prod(mesh.values()), tuple(mesh.values())))
        return self._program(self._package.files[f"{name}.py"], mesh, self.signature(case), donated=donated)

    def signature(self, case: str) -> Signature:
        """The arguments of the programs for a case."""
        (form,) = signatures_of(self._package.manifest, [self._cases[case]])
        return form

    def _program(self, source: str, mesh: dict[str, int], form: Signature, *, donated: bool = True) -> Program:
        spec = self._package.manifest.program
        seeds = [form.cases[0].inputs["seed"]] if spec.init else []
        request = {
            "mesh": mesh,
            "explicit": spec.explicit_axes(mesh),
            "init": spec.init,
            "export_init": spec.export_init,
        }
        request |= {"seeds": seeds, "args": form.args}
        exported = export_program(Submission.load(source, self._package.manifest.entry), request)
        state = exported.states[0]
        leaves = [{"shape": list(leaf.shape), "dtype": leaf.dtype.name} for leaf in state.values()]
        inputs = [{"shape": arg["shape"], "dtype": arg["dtype"]} for arg in form.args if "static" not in arg]
        artifact = Artifact(exported.artifact, (*leaves, *inputs), len(state) if donated else 0)
        facts = facts_of(load(exported.artifact, mesh, [*leaves, *inputs], artifact.state))
        seed = [{"shape": [], "dtype": "uint32"}]
        init = facts_of(load(exported.init, mesh, seed, 0)) if exported.init else None
        outputs = tuple(exported.outputs)
        return Program(Measured(mesh, facts, init, tuple(state), form.inputs, outputs, {}, False, artifact=artifact))


def _cases(source: str) -> dict[str, Case]:
    names: dict[str, Any] = {"__name__": "cases"}
    exec(source, names)
    found = {"public": names["public_cases"](), "hidden": names["hidden_cases"](np.random.default_rng(0))}
    return {
        f"{kind}-{number}": Case(f"{kind}-{number}", kind == "public", inputs)
        for kind, cases in found.items()
        for number, inputs in enumerate(cases, 1)
    }
