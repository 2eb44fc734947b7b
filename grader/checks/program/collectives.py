"""What do the devices say to each other: which collectives, over which axes, how many bytes, in loops or not?"""

from typing import Annotated, Any, Literal

from pydantic import Field

from grader.checks import finding
from grader.checks.finding import Finding
from grader.checks.program.subject import Measured, Pair, Subject, in_bytes, mesh_name
from grader.checks.program.table import Said, collectives_of, evidence_of
from grader.verdict import Trust

TITLE = "What the devices say to each other"
TRUST: Trust = "verified"
Kind = Literal[
    "all-gather",
    "all-reduce",
    "reduce-scatter",
    "all-to-all",
    "collective-permute",
    "collective-broadcast",
    "ragged-all-to-all",
]


class Count(finding.Bounds):
    """How often, counted over loops. A string is the name of a mesh axis, with `-1` or `+7` after it: its size."""

    at_least: int | str | None = None
    at_most: int | str | None = None


class Rule(finding.Bounds):
    """Bounds on the sum of some collectives. Bytes are logical ones, as a multiple of the whole bytes of `of`.

    `of = "reference"` takes the same sum in the reference's program.
    """

    kinds: list[Kind] = Field(min_length=1)
    axes: list[str] | None = None
    of: str | None = None
    at_least: float | None = Field(default=None, ge=0)
    at_most: float | None = Field(default=None, ge=0)
    loops: Literal["never", "only", "any"] = "any"
    executions: Count | None = None
    means: Annotated[str, Field(max_length=600)] = ""


class Bounds(finding.Bounds):
    """Collectives of under `ignore_below` bytes, a loss or a counter, are never looked at."""

    allowed: list[Kind] | None = None
    ignore_below: int = Field(default=64, ge=0)
    rules: list[Rule] = Field(default_factory=list)


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass when only allowed kinds occur and every rule holds on every mesh. Evidence: a table and a timeline."""
    evidence = {"meshes": [evidence_of(pair, bounds.ignore_below) for pair in subject.pairs]}
    faults: list[str] = []
    for pair in subject.pairs:
        said = collectives_of(pair.mine, ignore_below=bounds.ignore_below)
        where = f"On mesh {mesh_name(pair.mine.mesh)}"
        uncounted = [each for each in said if each.executions is None]
        for each in uncounted[:1]:
            faults.append(
                f"{where} {_name(each)} runs in a loop whose number of rounds the compiler does not know, so what "
                "it sends cannot be bounded. Use `jax.lax.scan`, or `jax.lax.fori_loop` with constant bounds."
            )
        faults += _not_allowed(where, said, bounds)
        for rule in bounds.rules:
            fault = _broken(subject, pair, rule, bounds.ignore_below)
            if fault:
                faults.append(f"{where} {fault}{' ' + rule.means if rule.means else ''}")
    if faults:
        # The same rule often breaks on every mesh: once is enough to read.
        return Finding(False, "\n".join(_once(faults)), "wrong_communication", evidence)
    return Finding(
        True,
        f"{_summary(subject.pairs[0].mine, bounds)} on mesh {mesh_name(subject.pairs[0].mine.mesh)}.",
        None,
        evidence,
    )


def _not_allowed(where: str, said: list[Said], bounds: Bounds) -> list[str]:
    if bounds.allowed is None:
        return []
    wrong = [each for each in said if each.kind not in bounds.allowed]
    faults = []
    for kind in dict.fromkeys(each.kind for each in wrong):
        these = [each for each in wrong if each.kind == kind]
        number = sum(each.executions or 0 for each in these)
        faults.append(
            f"{where} there {'is one' if number == 1 else f'are {number}'} {kind} of "
            f"{in_bytes(sum(each.total_bytes for each in these))}{_line(these[0])}, which this problem does not allow; "
            f"allowed: {', '.join(bounds.allowed) or 'none at all'}."
        )
    return faults


def _broken(subject: Subject, pair: Pair, rule: Rule, ignore_below: int) -> str | None:
    """What breaks the rule, as the end of a sentence that begins with the mesh; None where nothing does."""
    sure = _matching(pair.mine, rule, ignore_below)
    # Among devices that make up no axis: it does not do what the rule asks for, and is no way around what it forbids.
    perhaps = [*sure, *_matching(pair.mine, rule, ignore_below, along_axes=False)]
    name = _rule_name(rule)
    if rule.loops != "any":
        wrong = [each for each in perhaps if each.in_loop != (rule.loops == "only")]
        if wrong:
            place = "inside a loop" if wrong[0].in_loop else "outside of any loop"
            wanted = "outside of loops" if rule.loops == "never" else "inside a loop"
            return f"{_name(wrong[0])} runs {place}, expected {wanted}."
    if rule.of is not None:
        if rule.of == "reference":
            unit = sum(each.total_bytes for each in _matching(pair.reference, rule, ignore_below))
            unit_name = "what the reference sends in that way"
        else:
            unit = subject.bytes_of(rule.of, pair.reference)
            unit_name = f"the bytes of {rule.of}"
        low, high = rule.at_least, rule.at_most
        least, most = (sum(each.total_bytes for each in these) for these in (sure, perhaps))
        total = least if low is not None and least < low * unit else most
        if (low is not None and least < low * unit) or (high is not None and most > high * unit):
            ratio = f", {total / unit:.3g} times {unit_name} ({in_bytes(unit)})" if unit else ""
            return f"{name} moves {in_bytes(total)}{ratio}; expected {_range(low, high, ' times')}."
    if rule.executions is not None:
        low_count = _count(rule.executions.at_least, pair.mine.mesh)
        high_count = _count(rule.executions.at_most, pair.mine.mesh)
        least, most = (sum(each.executions or 0 for each in these) for these in (sure, perhaps))
        number = least if low_count is not None and least < low_count else most
        if (low_count is not None and least < low_count) or (high_count is not None and most > high_count):
            return f"{name} is executed {number} times; expected {_range(low_count, high_count, ' times')}."
    return None


def _matching(measured: Measured, rule: Rule, ignore_below: int, *, along_axes: bool = True) -> list[Said]:
    """Those along the rule's axes; or, not `along_axes`, those of its kinds along none, where it names axes."""
    said = [each for each in collectives_of(measured, ignore_below=ignore_below) if each.kind in rule.kinds]
    if not along_axes:
        return [each for each in said if rule.axes is not None and each.axes is None]
    return [each for each in said if rule.axes is None or (each.axes is not None and list(each.axes) == rule.axes)]


def _count(bound: int | str | None, mesh: dict[str, int]) -> int | None:
    if not isinstance(bound, str):
        return bound
    axis = bound.rstrip("0123456789").rstrip("+-")
    return mesh[axis] + int(bound[len(axis) :] or 0)


def _range(low: float | None, high: float | None, unit: str) -> str:
    if high == 0:
        return "none"
    if low is None:
        return f"at most {high:g}{unit}"
    if high is None:
        return f"at least {low:g}{unit}"
    return f"{low:g}{unit}" if low == high else f"between {low:g} and {high:g}{unit}"


def _rule_name(rule: Rule) -> str:
    return " and ".join(rule.kinds) + (f" over {', '.join(rule.axes)}" if rule.axes else "")


def _name(said: Said) -> str:
    over = f" over {', '.join(said.axes)}" if said.axes else ""
    return f"{'an' if said.kind[0] == 'a' else 'a'} {said.kind}{over} of {in_bytes(said.logical_bytes)}{_line(said)}"


def _line(said: Said) -> str:
    return f" (line {said.line})" if said.line else ""


def _summary(measured: Measured, bounds: Bounds) -> str:
    said = collectives_of(measured, ignore_below=bounds.ignore_below)
    totals: dict[str, int] = {}
    for each in said:
        totals[each.kind] = totals.get(each.kind, 0) + each.total_bytes
    told = ", ".join(f"{kind} {in_bytes(total)}" for kind, total in totals.items())
    return told[:1].upper() + told[1:] if told else "No collective of more than a few bytes"


def _once(faults: list[str]) -> list[str]:
    """Without those that say the same of another mesh."""
    seen: dict[Any, str] = {}
    for fault in faults:
        seen.setdefault(fault.rpartition("; expected")[2] if "; expected" in fault else fault, fault)
    return list(seen.values())
