"""Check that each device works on its own rows: none gathers the global batch or computes on all of it."""

from pydantic import Field

from grader.checks.finding import Finding, Located, rejected
from grader.checks.program_subject import Subject
from grader.checks.wording import Wording, listed, named, small
from grader.core.errors import GraderFault
from grader.core.text import in_bytes
from grader.package.package import CheckBounds, ProgramManifest
from grader.program.collective_uses import collectives_of
from grader.program.measurement import Measured
from grader.verdicts.evidence import Facts
from grader.verdicts.verdict import Trust

TITLE = "Each device works on its own rows"
TRUST: Trust = "verified"
_GATHERING = {"all-gather", "all-to-all", "collective-permute", "collective-broadcast", "ragged-all-to-all"}


class Bounds(CheckBounds):
    """`inputs` have a batch; by default, these are all inputs that are split along `dimension`, the batch dimension."""

    inputs: list[str] | None = None
    dimension: int = Field(default=0, ge=0)
    ignore_below: int = Field(default=64, ge=0)


def describe(bounds: Bounds, manifest: ProgramManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    inputs = named(bounds.inputs) if bounds.inputs else "every input that is split along it"
    return Wording(
        ("each device works on its own rows of the batch, and the rows stay where they are",),
        (
            f"the batch is dimension {bounds.dimension} of {inputs}",
            "no gathered tensor, and no matrix product on a device, has as many rows as the whole batch",
            *small(bounds.ignore_below, "collectives that carry data of the inputs"),
        ),
    )


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if no rows are sent, in any shape, and no tensor on a device has as many rows as the global batch."""
    evidence: list[Facts] = []
    faults: list[Located] = []
    for pair in subject.pairs:
        rows = _batch_sizes(pair.reference, bounds)
        evidence.append(Facts(**subject.entry(pair), about="rows of the whole batch", values=dict(rows)))
        fault = (
            _gathered(pair.mine, rows, bounds)
            or _moved(pair.mine, rows, bounds)
            or _computed(pair.mine, pair.reference, rows)
        )
        if fault:
            faults.append(Located(f"On {subject.place(pair)}, ", fault))
    if faults:
        return rejected(faults, "wrong_communication", evidence, shown=1)
    return Finding(True, "No device sees more of the batch than its own rows.", None, evidence)


def _batch_sizes(reference: Measured, bounds: Bounds) -> dict[str, int]:
    """The number of rows in the whole batch, for each input whose rows are split."""
    sizes = {}
    for name, leaf in reference.given:
        at = bounds.dimension
        split = len(leaf.shape) > at and any(held[at] != (0, leaf.shape[at]) for held in leaf.slices)
        if split and (bounds.inputs is None or name in bounds.inputs):
            sizes[name] = leaf.shape[at]
    if not sizes:
        raise GraderFault(f"the check 'batch' needs an input whose dimension {bounds.dimension} is split over the mesh")
    return sizes


def _gathered(measured: Measured, rows: dict[str, int], bounds: Bounds) -> str | None:
    """Find gathered rows, or activations computed from them, by the shape of a tensor."""
    for each in collectives_of(measured, ignore_below=bounds.ignore_below):
        if each.kind not in _GATHERING:
            continue
        for name, size in rows.items():
            if any(size in shape for shape in each.shapes):
                return (
                    f"every device gathers all {size} rows of the batch ({each.kind}). Keep the rows of `{name}` "
                    f"sharded {_axes(measured, name)}. Gather weights, not activations."
                )
    return None


def _moved(measured: Measured, rows: dict[str, int], bounds: Bounds) -> str | None:
    """Find sent elements of an input, in any shape and any number of pieces, by following them through the program."""
    for name in rows:
        carrying = [
            (each, share)
            for each in collectives_of(measured)
            for share in each.shares
            if name in share.carries or (each.kind in _GATHERING and share.depends and share.depends <= rows.keys())
        ]
        # A collective that runs an unknown number of times moves at least the bytes of one execution.
        total = sum(
            share.logical_bytes * (1 if each.executions is None else each.executions) for each, share in carrying
        )
        if total >= max(bounds.ignore_below, 1):
            kinds = listed(dict.fromkeys(each.kind for each, _ in carrying))
            line = next((f", line {each.line}" for _, each in carrying if each.line), "")
            return (
                f"{in_bytes(total)} of the data in `{name}` moves between devices ({kinds}{line}). It counts even if "
                f"you reshape it, or send it in several pieces. Keep the rows of `{name}` sharded "
                f"{_axes(measured, name)}, and exchange weights and gradients instead."
            )
    return None


def _computed(mine: Measured, reference: Measured, rows: dict[str, int]) -> str | None:
    usual = {size for dot in reference.facts.census.dots for size in (*dot.result_shape, *sum(dot.operand_shapes, ()))}
    for dot in mine.facts.census.dots:
        shapes = (*dot.operand_shapes, dot.result_shape)
        for name, size in rows.items():
            if size not in usual and any(size in shape for shape in shapes):
                line = f" (line {dot.source_line})" if dot.source_line else ""
                return (
                    f"every device computes on all {size} rows of the batch{line} instead of its own rows. "
                    f"Keep `{name}` sharded {_axes(mine, name)}."
                )
    return None


def _axes(measured: Measured, name: str) -> str:
    leaf = next((leaf for path, leaf in measured.given if path == name), None)
    return f"as {leaf.spec}" if leaf else "over the mesh"
