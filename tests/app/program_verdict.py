"""Made-up verdicts of programs, as the judge stores them, so that no test of a page has to compile."""

import itertools
import math
from collections.abc import Sequence
from typing import Literal

from grader.core.reasons import Reason
from grader.verdicts.evidence import (
    Amount,
    Amounts,
    CollectiveCall,
    Collectives,
    CollectiveSum,
    Evidence,
    Held,
    Leaf,
    Leaves,
    Traffic,
)
from grader.verdicts.verdict import CaseResult, CheckResult, Efficiency, EfficiencyPart, Trust, Verdict

Mesh = dict[str, int]
Spec = list[tuple[str, ...]]
When = Literal["in", "out"]
_TIMES: tuple[When, ...] = ("in", "out")


def held(mesh: Mesh, shape: list[int], spec: Spec) -> Held:
    """For each device in mesh order, [start, stop] of each dim; `spec` names the mesh axes of each dim."""
    found = []
    for place in itertools.product(*map(range, mesh.values())):
        index = dict(zip(mesh, place, strict=True))
        slices = []
        for size, axes in itertools.zip_longest(shape, spec[: len(shape)], fillvalue=()):
            assert isinstance(size, int)
            parts, part = math.prod(mesh[axis] for axis in axes), 0
            for axis in axes:
                part = part * mesh[axis] + index[axis]
            slices.append((part * size // parts, (part + 1) * size // parts))
        found.append(tuple(slices))
    return tuple(found)


def spec_text(spec: Spec) -> str:
    entries = [repr(axes[0]) if len(axes) == 1 else repr(axes) if axes else "None" for axes in spec]
    return f"P({', '.join(entries)})"


def leaf(mesh: Mesh, path: str, shape: list[int], expected: Spec, got: Spec | None = None, when: When = "out") -> Leaf:
    found = expected if got is None else got
    return Leaf(
        path=path,
        when=when,
        shape=tuple(shape),
        dtype="float32",
        ok=held(mesh, shape, found) == held(mesh, shape, expected),
        expected_spec=spec_text(expected),
        got_spec=spec_text(found),
        expected=held(mesh, shape, expected),
        got=held(mesh, shape, found),
    )


def sharding(mesh: Mesh, *, wrong: bool) -> Leaves:
    """An FSDP step; `wrong` leaves one weight whole and splits another along the other dim."""
    data: Spec = [("data",)] if "data" in mesh else []
    leaves = []
    for when in _TIMES:
        bad = wrong and when == "out"
        for tree in ("params", "mu", "nu"):
            leaves.append(leaf(mesh, f"{tree}/w1", [64, 256], [("fsdp",), ()], [(), ()] if bad else None, when))
            leaves.append(leaf(mesh, f"{tree}/b1", [256], [("fsdp",)], None, when))
        other: Spec | None = [(), ("fsdp",)] if bad else None
        leaves.append(leaf(mesh, "params/w2", [256, 32], [("fsdp",), ()], other, when))
        leaves.append(
            leaf(mesh, "cache/k", [4, 16, 8, 32], [*data, (), ("fsdp",)] if data else [("fsdp",)], None, when)
        )
        leaves.append(leaf(mesh, "count", [], [], None, when))
    leaves.append(leaf(mesh, "loss", [], [], None, "out"))
    return Leaves(mesh=mesh, leaves=leaves)


def traffic(executions: int, size: int, ring: int) -> Traffic:
    return Traffic(executions=executions, bytes=size, ring_bytes=ring)


def block(name: str, size: int, executions: int | None = 1, in_loop: bool = False) -> CollectiveCall:
    return CollectiveCall(collective=name, axes=("fsdp",), bytes=size, executions=executions, in_loop=in_loop)


def collectives(mesh: Mesh, *, wrong: bool) -> Collectives:
    def row(name: str, in_loop: bool, mine: Traffic | None, reference: Traffic | None) -> CollectiveSum:
        return CollectiveSum(
            collective=name,
            axes=("fsdp",),
            group_size=mesh["fsdp"],
            in_loop=in_loop,
            mine=mine,
            reference=reference,
        )

    reference = [block("all-gather", 65_536, 24, True), block("reduce-scatter", 65_536, 24, True)]
    reference += [block("all-gather", 32_768), block("all-reduce", 4)]
    mine = [block("all-gather", 65_536), block("all-reduce", 98_304), block("all-reduce", 4)] if wrong else reference
    in_loop = traffic(24, 1_572_864, 1_376_256)
    return Collectives(
        mesh=mesh,
        sums=[
            row("all-gather", True, None if wrong else in_loop, in_loop),
            row("all-gather", False, traffic(1, 65_536, 57_344), traffic(1, 32_768, 28_672)),
            row("reduce-scatter", True, None if wrong else in_loop, in_loop),
            row("all-reduce", False, traffic(2, 98_308, 172_039), traffic(1, 4, 7)),
        ],
        mine=mine,
        reference=reference,
    )


def memory(mesh: Mesh, *, wrong: bool) -> Amounts:
    times = 8 if wrong else 1
    return Amounts(
        mesh=mesh,
        title="Bytes on the fullest device",
        unit="bytes",
        whole_title="replicated",
        rows=[
            Amount(name="arguments", mine=49_152 * times, reference=49_152, whole=393_216),
            Amount(name="outputs", mine=49_156 * times, reference=49_156, whole=393_220),
            Amount(name="temporaries", mine=131_072, reference=98_304, whole=None),
        ],
    )


def flops(mesh: Mesh) -> Amounts:
    row = Amount(name="matrix products", mine=1_572_864, reference=1_572_864, whole=12_582_912)
    return Amounts(mesh=mesh, title="Operations on each device", unit="operations", whole_title="undivided", rows=[row])


def donation(mesh: Mesh, *, wrong: bool) -> Amounts:
    row = Amount(name="donated state", mine=0 if wrong else 49_152, reference=None, whole=49_152)
    return Amounts(mesh=mesh, title="Donated bytes on each device", unit="bytes", whole_title="whole state", rows=[row])


def program_verdict(
    problem: str = "fsdp_forward", *, wrong: bool = False, efficiency: float | None = None, scored: bool = True
) -> Verdict:
    """A verdict with evidence of every kind, over meshes of one and of two axes."""
    meshes: list[Mesh] = [{"fsdp": 8}, {"data": 2, "fsdp": 4}]

    def check(check_id: str, title: str, points: int, entries: Sequence[Evidence], passed: bool = True) -> CheckResult:
        trust: Trust = "verified"
        message = "as the reference" if passed else "2 leaves are on the wrong devices on a mesh of fsdp = 8"
        return CheckResult(
            id=check_id,
            title=title,
            passed=passed,
            points=points if passed else 0,
            max_points=points,
            trust=trust,
            message=message,
            evidence=list(entries),
        )

    checks = [
        check("values", "Every value is correct", 30, []),
        check("sharding", "Where every leaf lives", 30, [sharding(m, wrong=wrong) for m in meshes], not wrong),
        check("memory", "Memory per device", 10, [memory(m, wrong=wrong) for m in meshes], not wrong),
        check("collectives", "What the devices exchange", 20, [collectives(m, wrong=wrong) for m in meshes], not wrong),
        check("flops", "Operations per device", 5, [flops(m) for m in meshes]),
        check("donation", "The state is donated", 5, [donation(m, wrong=wrong) for m in meshes], not wrong),
    ]
    reason: Reason | None = "wrong_sharding" if wrong else None
    return Verdict(
        problem=problem,
        version="a" * 64,
        status="rejected" if wrong else "accepted",
        reason=reason,
        score=sum(each.points for each in checks) if scored else None,
        checks=checks,
        cases=[CaseResult(id="public-1", public=True, passed=True, message="right")],
        walls=["namespaces", "landlock", "seccomp"],
        efficiency=None if efficiency is None else make_efficiency(efficiency),
    )


def make_efficiency(score: float) -> Efficiency:
    """Make an efficiency whose parts all have the ratio that gives this score."""
    ratio = 100 / score
    sizes = {"ring_bytes": 2_781_191, "temporary_bytes": 98_304, "dot_flops": 1_572_864}
    parts = [
        EfficiencyPart(name=name, mine=round(size * ratio), reference=size, ratio=ratio)  # type: ignore[arg-type]
        for name, size in sizes.items()
    ]
    return Efficiency(score=score, parts=parts)
