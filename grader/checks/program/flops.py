"""Check how much each device computes in matrix products, including the trip counts of loops."""

import math

from pydantic import Field

from grader.checks.finding import Finding, Located, rejected
from grader.checks.program_subject import Subject
from grader.checks.wording import Wording, within
from grader.core.reasons import Reason
from grader.package.package import CheckBounds, ProgramManifest
from grader.program.measurement import Measured
from grader.verdicts.evidence import Amount, Amounts
from grader.verdicts.verdict import Trust

TITLE = "Work on each device"
TRUST: Trust = "verified"
PROMISE = r"\bFLOPs .{0,40}\bare graded\b"
_MAX_LINES = 3
_POSSIBLE_CAUSES = (
    " Look for products that several devices compute in full, although each device could compute its own rows or "
    "columns; for products that are computed twice, as when `jax.checkpoint` repeats the forward pass in the backward "
    "pass; and for padded or repeated arrays."
)


class Bounds(CheckBounds):
    """Multiples of the reference's FLOPs on a device.

    `at_least` catches products that are written so that they cannot be counted, such as a multiplication and a sum.
    """

    at_least: float = Field(default=0.5, ge=0, le=1)
    at_most: float = Field(default=1.15, ge=1)


def describe(bounds: Bounds, manifest: ProgramManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    limits = within(bounds.at_least, bounds.at_most)
    return Wording(
        (f"each device computes {limits} the reference's FLOPs in matrix products",),
        (f"FLOPs of matrix products on a device, counting every round of a loop: {limits} the reference's",),
    )


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if the FLOPs of the matrix products on each device are within bounds on every mesh."""
    evidence: list[Amounts] = []
    faults: list[tuple[Reason, Located]] = []
    for pair in subject.pairs:
        mine, reference = pair.mine.facts.census.dot_flops, pair.reference.facts.census.dot_flops
        devices = pair.mine.facts.devices
        whole = reference * devices if reference is not None else None
        at_least, at_most = (
            (math.ceil(reference * bounds.at_least), int(reference * bounds.at_most))
            if reference is not None
            else (None, None)
        )
        row = Amount(
            name="matrix products", mine=mine, reference=reference, whole=whole, at_least=at_least, at_most=at_most
        )
        evidence.append(
            Amounts(
                **subject.entry(pair),
                title="Operations on each device",
                unit="operations",
                whole_title="undivided",
                rows=[row],
            )
        )
        where = f"On {subject.place(pair)}, "
        if mine is None:
            message = (
                "a matrix product runs in a loop whose trip count the compiler does not know, so its FLOPs "
                "cannot be bounded. Use `jax.lax.scan`, or `jax.lax.fori_loop` with constant bounds."
            )
            faults.append(("too_much_compute", Located(where, message)))
        elif reference is not None and at_most is not None and mine > at_most:
            ratio = mine / reference if reference else float("inf")
            same = (
                f" Each device does the work of all {devices} devices. Split the batch or the weights, so that each "
                "device does only its own part."
                if 0.8 < ratio / devices < 1.25
                else ""
            )
            message = (
                f"each device computes {mine:,} FLOPs in matrix products, {ratio:.3g} times the reference's "
                f"{reference:,}; expected at most {bounds.at_most:g} times that."
                f"{same or _POSSIBLE_CAUSES}{_largest(pair.mine)}"
            )
            faults.append(("too_much_compute", Located(where, message)))
        elif reference is not None and at_least is not None and mine < at_least:
            message = (
                f"each device computes only {mine:,} FLOPs in matrix products; the reference computes "
                f"{reference:,}. {_why_too_few(pair.mine)}"
            )
            faults.append(("wrong_structure", Located(where, message)))
    if faults:
        reason, first = faults[0]
        return rejected([first], reason, evidence)
    operations = evidence[0].rows[0].mine or 0
    return Finding(True, f"Each device computes {operations:,} FLOPs in matrix products.", None, evidence)


def _why_too_few(measured: Measured) -> str:
    products = measured.facts.census.summed_products
    if not products:
        return "Look for a product that is left out, or that is computed for only some of the rows or layers."
    line = next((f" (line {each.line})" for each in products if each.line), "")
    return (
        f"A product written as a multiplication and a sum{line} cannot be counted, and takes more memory: use `@`, "
        "`jnp.dot` or `jnp.einsum`."
    )


def _largest(measured: Measured) -> str:
    """The most expensive lines of the submission, with each line's forward and backward products added up."""
    lines: dict[int, int] = {}
    for dot in measured.facts.census.dots:
        if dot.source_line is not None:
            lines[dot.source_line] = lines.get(dot.source_line, 0) + dot.flops * (dot.executions or 0)
    most = sorted(lines, key=lambda line: -lines[line])[:_MAX_LINES]
    return f" Most are on {', '.join(f'line {line} ({lines[line]:,})' for line in most)}." if most else ""
