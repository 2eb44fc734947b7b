"""The input of a check in program mode: the submission's program and the reference's, on every mesh."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from grader.checks.compare import Mismatch, compare, excess
from grader.checks.weight_decay import decay_of
from grader.core.case import Case
from grader.core.chips import slice_of
from grader.core.errors import GraderFault, SubmissionFault
from grader.core.text import in_bytes
from grader.package.budget import Budget
from grader.package.package import ProgramSpec, Tolerance
from grader.program.measurement import Leaves, Measured, Run, mesh_name
from grader.program.on_chip import OnChip
from grader.verdicts.evidence import Difference

Tolerances = dict[str, Tolerance]
_MAX_CASES_NAMED = 3


@dataclass(frozen=True, slots=True)
class Pair:
    """The submission's program and the reference's for one mesh, and the ids of the cases that use them.

    Cases with different shapes need different programs, so a mesh can have several pairs.
    """

    mine: Measured
    reference: Measured
    cases: tuple[str, ...] = ()

    def why_more_state(self, held: int, expected: int, placement: str) -> str:
        """Explain why a device holds more state than the reference's: larger leaves, their placement, or both.

        Args:
          held, expected: bytes on a device.
          placement: the sentence to use if the placement is a cause.
        """
        mine, reference = (sum(leaf.whole_bytes for _, leaf in each.state_in) for each in (self.mine, self.reference))
        if mine <= reference:
            return placement
        larger = (
            f"Your whole state takes {in_bytes(mine)}, and the reference's takes {in_bytes(reference)}: leaves have "
            "more elements than they should, or a wider dtype."
        )
        # The placement is a cause only if a device's share of the whole is larger than the reference's.
        return larger if held * reference <= expected * mine else f"{larger} {placement}"


@dataclass(frozen=True, slots=True)
class Result:
    """One case on one mesh. `mismatch` is the first difference, and `where` names the step in which it was found."""

    case: Case
    mesh: dict[str, int]
    expected: Run
    got: Run
    where: str
    mismatch: Mismatch | None


@dataclass(frozen=True, slots=True)
class FullSizeProgram:
    """The programs at `[program.full_size]`, compiled but never run. If `program` is None, `fault` says why.

    `on_chip` has the program for each slice that the check names. It is empty in a run, and if the CPU's program
    does not fit.
    """

    reference: Measured
    program: Measured | None
    fault: SubmissionFault | None = None
    on_chip: Mapping[str, OnChip] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Subject:
    """All facts about one submission. Pairs are ordered by mesh, the main mesh first.

    `on_chip` has the submission's program for each slice that a check names, and `full_size` the programs at full size.
    `budget` is the package's; only its entries for `variant` count.
    """

    spec: ProgramSpec
    tolerances: Tolerances
    pairs: tuple[Pair, ...]
    results: tuple[Result, ...]
    on_chip: Mapping[str, OnChip] = field(default_factory=dict)
    full_size: FullSizeProgram | None = None
    budget: Budget | None = None
    variant: str | None = None

    def bytes_of(self, group: str, measured: Measured) -> dict[str, int]:
        """The whole bytes of each leaf in a group of problem.toml, or of each leaf that a glob matches.

        Raises:
          GraderFault: the package names leaves that its reference does not have.
        """
        patterns = self.spec.groups.get(group, [group])
        named = [*measured.state_in, *measured.given]
        if not self.spec.init:
            named += measured.out
        found = {path: leaf.whole_bytes for path, leaf in named if any(fnmatchcase(path, each) for each in patterns)}
        if not found:
            raise GraderFault(f"problem.toml names '{group}', but the reference has no leaf of that name")
        return found

    def leaves_of(self, groups: Sequence[str], pair: Pair) -> frozenset[str]:
        """The submission's leaves and inputs in any of the groups. Raises the errors of `bytes_of`.

        There are none if the submission names its leaves differently, which the check `values` reports.
        """
        for group in groups:
            self.bytes_of(group, pair.reference)
        return self._named(groups, (*pair.mine.state, *pair.mine.inputs))

    def outputs_of(self, groups: Sequence[str], pair: Pair) -> frozenset[str]:
        """The leaves in any of the groups that the submission's program returns. Raises the errors of `bytes_of`."""
        for group in groups:
            if not self._named([group], pair.reference.outputs):
                raise GraderFault(f"problem.toml names '{group}', but the reference returns no leaf of that name")
        return self._named(groups, pair.mine.outputs)

    def _named(self, groups: Sequence[str], paths: Sequence[str]) -> frozenset[str]:
        patterns = [pattern for group in groups for pattern in self.spec.groups.get(group, [group])]
        return frozenset(path for path in paths if any(fnmatchcase(path, each) for each in patterns))

    def mesh_of(self, topology: str) -> dict[str, int]:
        """The mesh whose program is compiled for a slice: the first one with as many devices."""
        _, devices = slice_of(topology)
        return next(pair.mine.mesh for pair in self.pairs if pair.mine.facts.devices == devices)

    def place(self, pair: Pair) -> str:
        """Name the mesh, such as `mesh fsdp=8`, and the cases if the mesh has several programs."""
        return self.places([pair])

    def places(self, pairs: Sequence[Pair]) -> str:
        """Name each mesh once, such as `mesh fsdp=8 in public-1 and mesh fsdp=4`."""
        places = []
        for name in dict.fromkeys(mesh_name(pair.mine.mesh) for pair in pairs):
            these, all_of_it = (
                [pair for pair in some if mesh_name(pair.mine.mesh) == name] for some in (pairs, self.pairs)
            )
            cases = list(dict.fromkeys(case for pair in these for case in pair.cases))
            partly = cases and len({pair.cases for pair in these}) < len({pair.cases for pair in all_of_it})
            places.append(f"mesh {name} in {_listed(cases)}" if partly else f"mesh {name}")
        return " and ".join(places)

    def entry(self, pair: Pair) -> dict[str, Any]:
        """The first fields of a pair's evidence: its mesh, and its cases if the mesh has several programs."""
        several = sum(each.mine.mesh == pair.mine.mesh for each in self.pairs) > 1
        return {"mesh": pair.mine.mesh, **({"cases": list(pair.cases)} if several else {})}


def compare_runs(expected: Run, got: Run, tolerances: Tolerances) -> tuple[str, Mismatch | None]:
    """Return where the first difference is, as a phrase, and the difference; None if there is none."""
    mismatch = _compare_leaves(expected.init, got.init, tolerances)
    if mismatch is not None:
        return "in the state that `init` returns", mismatch
    for number, (one, other, replicas) in enumerate(zip(expected.steps, got.steps, got.replicas, strict=True), 1):
        where = f"after step {number}" if len(expected.steps) > 1 else ""
        mismatch = _compare_leaves(one, other, tolerances)
        if mismatch is None and replicas:
            shared = {path: one[path] for path in replicas}
            mismatch = compare(shared, replicas, tolerances)
            if mismatch is not None:
                kind = "devices that should hold equal values hold different ones"
                text = f"{kind}. On one of them, {mismatch.message}"
                return where, Mismatch(mismatch.reason, kind, text, mismatch.difference)
        if mismatch is None:
            mismatch = decay_of(expected.init, one, other)
        if mismatch is not None:
            return where, mismatch
    return "", None


def excess_of_runs(expected: Run, got: Run, tolerances: Tolerances) -> float:
    """The largest error as a multiple of the tolerance; infinite if the leaves have another form."""
    parts = [(expected.init, got.init), *zip(expected.steps, got.steps, strict=True)]
    parts += [
        ({path: one[path] for path in replicas}, replicas)
        for one, replicas in zip(expected.steps, got.replicas, strict=True)
        if replicas.keys() <= one.keys()
    ]
    return max(excess(dict(one), dict(other), tolerances) for one, other in parts)


def _compare_leaves(expected: Leaves, got: Leaves, tolerances: Tolerances) -> Mismatch | None:
    missing, extra = sorted(expected.keys() - got.keys()), sorted(got.keys() - expected.keys())
    if missing or extra:
        names = [
            f"{word} {', '.join(paths[:6])}" for word, paths in (("missing:", missing), ("unknown:", extra)) if paths
        ]
        kind = "the leaves are not the expected ones"
        return Mismatch(
            "wrong_structure",
            kind,
            f"{kind}; {'; '.join(names)}.",
            Difference(expected=sorted(expected), got=sorted(got)),
        )
    return compare(dict(expected), dict(got), tolerances)


def _listed(cases: Sequence[str]) -> str:
    """`public-1`, `public-1 and hidden-2`, or the first three and the number of the others."""
    shown = list(cases[:_MAX_CASES_NAMED])
    if len(cases) > len(shown):
        shown.append(f"{len(cases) - len(shown)} more")
    *most, last = shown
    return f"{', '.join(most)} and {last}" if most else last
