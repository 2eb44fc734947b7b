"""Check communication between devices: which collectives, over which axes, how many bytes, inside or outside loops."""

import math

from pydantic import Field

from grader.checks.budget import BUDGET_WORDING, over_budget
from grader.checks.chip_rules import ChipCollectives, check_on_chips
from grader.checks.collective_rules import (
    BoundedAmount,
    Counted,
    CountedPart,
    Execution,
    Rule,
    amounts_of,
    bytes_in_reference,
    count_by,
    executions_of,
    in_reference,
    largest_execution,
)
from grader.checks.collective_table import evidence_of
from grader.checks.finding import Finding, Located, rejected
from grader.checks.program_subject import Pair, Subject
from grader.checks.rule_wording import sentences_of, wording_of
from grader.checks.topology import AlsoOnChips, together
from grader.checks.wording import Wording, expected, listed, multiple, small
from grader.core.text import in_bytes
from grader.package.package import ProgramManifest
from grader.program.collective_uses import CollectiveUse, Kind, collectives_of
from grader.program.measurement import Measured
from grader.verdicts.evidence import Limit
from grader.verdicts.verdict import Trust

TITLE = "Communication between devices"
TRUST: Trust = "verified"
_MAX_NAMED = 3


class Bounds(AlsoOnChips):
    """Collectives that move less than `ignore_below` bytes, such as a loss or a counter, are ignored.

    `on_chip` bounds what they move in the programs for slices, where compilers may choose other collectives.
    """

    allowed: list[Kind] | None = None
    ignore_below: int = Field(default=64, ge=0)
    rules: list[Rule] = Field(default_factory=list)
    on_chip: ChipCollectives | None = None


def describe(bounds: Bounds, manifest: ProgramManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    is_single = len(manifest.program.meshes[0]) == 1
    allowed = "any" if bounds.allowed is None else listed(bounds.allowed or ["none"])
    return Wording(
        sentences_of(bounds.rules, bounds.allowed, bounds.ignore_below, is_single=is_single),
        (
            *map(wording_of, bounds.rules),
            f"allowed kinds: {allowed}",
            *small(bounds.ignore_below, "collectives"),
            "bytes are those of the whole tensor, counted each time that a collective runs",
            *([BUDGET_WORDING] if any(math.prod(mesh.values()) > 1 for mesh in manifest.program.meshes) else []),
            *(bounds.on_chip.wording() if bounds.on_chip else ()),
        ),
    )


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if only allowed kinds occur and every rule holds on every mesh. Evidence: a table, a timeline and limits."""
    found = _check_host_devices(subject, bounds)
    return found if bounds.on_chip is None else together([found, check_on_chips(subject, bounds.on_chip)])


def _check_host_devices(subject: Subject, bounds: Bounds) -> Finding:
    evidence = []
    # Keyed by what is wrong, because most faults occur on every mesh and one message is enough.
    faults: dict[object, Located] = {}
    for pair in subject.pairs:
        uses = collectives_of(pair.mine, ignore_below=bounds.ignore_below)
        where = f"On {subject.place(pair)}, "
        uncounted = [each for each in uses if each.executions is None]
        for each in uncounted[:1]:
            faults.setdefault(
                "uncounted",
                Located(
                    where,
                    f"{_name(each)} runs in a loop whose trip count the compiler does not know, so the bytes that "
                    "it sends cannot be bounded. Use `jax.lax.scan`, or `jax.lax.fori_loop` with constant bounds.",
                ),
            )
        for kind, fault in _not_allowed(where, uses, bounds).items():
            faults.setdefault(kind, fault)
        limits: list[Limit] = []
        for number, rule in enumerate(bounds.rules):
            counted = count_by(subject, pair, rule, bounds.ignore_below)
            limits += _limits_of(subject, pair, counted, bounds.ignore_below)
            broken = _broken(subject, pair, counted, bounds.ignore_below)
            if broken:
                faults.setdefault(rule.means or number, Located(where, f"{broken} {rule.means}".rstrip()))
        over, in_all = over_budget(subject, pair)
        if over:
            faults.setdefault("budget", Located(where, over))
        evidence.append(evidence_of(subject, pair, bounds.ignore_below, [*limits, *in_all]))
    if faults:
        return rejected(list(faults.values()), "wrong_communication", evidence)
    first = subject.pairs[0]
    return Finding(True, f"On {subject.place(first)}: {_summary(first.mine, bounds)}.", None, evidence)


def _not_allowed(where: str, uses: list[CollectiveUse], bounds: Bounds) -> dict[str, Located]:
    """A fault for each kind that is not allowed."""
    if bounds.allowed is None:
        return {}
    wrong = [each for each in uses if each.kind not in bounds.allowed]
    faults = {}
    for kind in dict.fromkeys(each.kind for each in wrong):
        these = [each for each in wrong if each.kind == kind]
        faults[kind] = Located(
            where,
            f"the program runs {_quantity(kind, these)}{_line(these[0])}, which this problem does not allow. "
            f"Allowed: {', '.join(bounds.allowed) or 'no collective'}.",
        )
    return faults


def _quantity(kind: str, uses: list[CollectiveUse]) -> str:
    """`one all-gather of 32 KiB` or `3 all-gathers of 96 KiB in total`; without numbers if they are unknown."""
    number = sum(each.executions or 0 for each in uses)
    if any(each.executions is None for each in uses):
        return f"{kind} in a loop"
    total = in_bytes(sum(each.total_bytes for each in uses))
    return f"one {kind} of {total}" if number == 1 else f"{number} {kind}s of {total} in total"


def _broken(subject: Subject, pair: Pair, counted: Counted, ignore_below: int) -> str | None:
    """Describe how the rule is broken, as the end of a sentence that begins with the mesh; None if it is not."""
    rule = counted.rule
    if rule.loops != "any":
        wrong = [each.use for each in counted.perhaps if each.use.in_loop != (rule.loops == "only")]
        if wrong:
            place = "inside a loop, but must run outside" if wrong[0].in_loop else "outside a loop, but must run inside"
            return f"{_name(wrong[0])} runs {place}."
    amounts = amounts_of(subject, pair, counted, ignore_below)
    for each in amounts:
        if each.is_broken:
            return _describe(subject, pair, counted, each)
    too_much = _too_much_at_once(rule, largest_execution(counted, amounts))
    if too_much:
        return too_much
    times = executions_of(pair, counted)
    if times is not None and times.is_broken:
        runs = f"{_verb(rule, 'run')} {_times(times.number)}" if times.number else f"never {_verb(rule, 'run')}"
        return f"{_rule_name(rule)} {runs}; expected {expected(times.low, times.high, _times)}."
    return None


def _describe(subject: Subject, pair: Pair, counted: Counted, amount: BoundedAmount) -> str:
    rule, total, unit = counted.rule, amount.number, amount.unit
    whose, bytes_of = _unit_names(rule, amount.name)
    bounds = expected(rule.at_least, rule.at_most, multiple)
    move = _verb(rule, "move")
    if not total:
        return f"{_rule_name(rule)} {move} nothing{whose}; expected {bounds} {bytes_of} ({in_bytes(unit)})."
    if rule.not_into is not None and not amount.high:
        line, _ = _source_of(subject, pair, rule, counted.perhaps)
        moves = f"{_rule_name(rule)}{line} {move} {in_bytes(total)}"
        return f"{moves} that do not end up in {', '.join(rule.not_into)}; expected none."
    share = "less than 0.01x" if total < unit / 100 else f"{total / unit:.3g}x" if unit else ""
    ratio = f", {share} {bytes_of} ({in_bytes(unit)})" if share else ""
    line, leaves_from = _source_of(subject, pair, rule, counted.perhaps) if total == amount.most else ("", "")
    # Name only the kinds that the program has, not all that the rule counts.
    occur = {each.use.kind for each in counted.perhaps}
    rule = rule.model_copy(update={"kinds": [kind for kind in rule.kinds if kind in occur] or rule.kinds})
    moves = f"{_rule_name(rule)}{line} {_verb(rule, 'move')} {in_bytes(total)}"
    return f"{moves}{whose}{ratio}{leaves_from}; expected {bounds}."


def _unit_names(rule: Rule, name: str) -> tuple[str, str]:
    """Return words for the leaf whose bytes are counted, and for the amount that they are compared with."""
    if not rule.each:
        return "", name
    return f" of {name}", "what the reference sends of it" if rule.of == "reference" else "its bytes"


def _too_much_at_once(rule: Rule, largest: Execution | None) -> str | None:
    if largest is None or rule.at_once is None or largest.moved <= rule.at_once * largest.unit:
        return None
    whose, bytes_of = _unit_names(rule, largest.name)
    ratio = f", {largest.moved / largest.unit:.3g}x {bytes_of} ({in_bytes(largest.unit)})" if largest.unit else ""
    return (
        f"{_rule_name(rule)}{_line(largest.use)} {_verb(rule, 'move')} {in_bytes(largest.moved)}{whose} in one "
        f"execution{ratio}; expected at most {multiple(rule.at_once)}."
    )


def _limits_of(subject: Subject, pair: Pair, counted: Counted, ignore_below: int) -> list[Limit]:
    """The rule's limits. A rule about single leaves shows one leaf: one that is out of bounds, or that moves most."""
    rule, limits = counted.rule, []
    amounts = sorted(amounts_of(subject, pair, counted, ignore_below), key=lambda each: (each.is_broken, each.most))
    for each in amounts[-1:]:
        limits.append(
            Limit(
                name=f"{_limit_name(rule)}, {each.name}" if rule.each else _limit_name(rule),
                unit="bytes",
                mine=round(each.number),
                reference=None if rule.each else bytes_in_reference(subject, pair, rule, ignore_below),
                at_least=None if each.low is None else math.ceil(each.low),
                at_most=None if each.high is None else math.floor(each.high),
            )
        )
    largest = largest_execution(counted, amounts)
    if largest is not None and rule.at_once is not None:
        limits.append(
            Limit(
                name=f"{_limit_name(rule)}, {largest.name + ', ' if rule.each else ''}in one execution",
                unit="bytes",
                mine=round(largest.moved),
                reference=None,
                at_least=None,
                at_most=math.floor(rule.at_once * largest.unit),
            )
        )
    times = executions_of(pair, counted)
    if times is not None:
        reference = in_reference(subject, pair, rule, ignore_below)
        limits.append(
            Limit(
                name=_limit_name(rule),
                unit="executions",
                mine=round(times.number),
                reference=sum(each.use.executions or 0 for each in reference),
                at_least=None if times.low is None else round(times.low),
                at_most=None if times.high is None else round(times.high),
            )
        )
    return limits


def _source_of(subject: Subject, pair: Pair, rule: Rule, counted: list[CountedPart]) -> tuple[str, str]:
    """Words for the line of the largest collective, and for the leaves that its data should not come from."""
    groups = rule.only_from or rule.not_only_from
    if not counted:
        return "", ""
    largest = max(counted, key=lambda each: each.total_bytes)
    if groups is None:
        return _line(largest.use), ""
    share = max(largest.shares, key=lambda each: each.logical_bytes)
    others = sorted(share.depends - (subject.leaves_of(groups, pair) if rule.not_only_from else frozenset()))
    more = f" and {len(others) - _MAX_NAMED} more" if len(others) > _MAX_NAMED else ""
    names = ", ".join(others[:_MAX_NAMED]) + more
    line = f" (line {share.line})" if share.line else _line(largest.use)
    return line, f", computed from {names or 'no leaf of the state'}"


def _times(number: float) -> str:
    return {1: "once", 2: "twice"}.get(int(number), f"{number:g} times")


def _rule_name(rule: Rule) -> str:
    where = {"loops": " inside loops", "no loop": " outside loops", None: ""}[rule.within]
    return listed(rule.kinds) + (f" over {listed(rule.axes)}" if rule.axes else "") + where


def _verb(rule: Rule, verb: str) -> str:
    return verb if len(rule.kinds) > 1 else f"{verb}s"


def _limit_name(rule: Rule) -> str:
    """Name the rule and the leaves whose data it counts, because several rules can bound the same collectives."""
    if rule.only_from is not None:
        return f"{_rule_name(rule)} from {', '.join(rule.only_from)}"
    if rule.into is not None:
        return f"{_rule_name(rule)} for {', '.join(rule.into)}"
    if rule.not_into is not None:
        return f"{_rule_name(rule)} for nothing in {', '.join(rule.not_into)}"
    return f"{_rule_name(rule)}{'' if rule.not_only_from is None else ' from other data'}"


def _name(use: CollectiveUse) -> str:
    over = f" over {', '.join(use.axes)}" if use.axes else ""
    return f"{'an' if use.kind[0] == 'a' else 'a'} {use.kind}{over} of {in_bytes(use.logical_bytes)}{_line(use)}"


def _line(use: CollectiveUse) -> str:
    return f" (line {use.line})" if use.line else ""


def _summary(measured: Measured, bounds: Bounds) -> str:
    totals: dict[str, int] = {}
    for each in collectives_of(measured, ignore_below=bounds.ignore_below):
        totals[each.kind] = totals.get(each.kind, 0) + each.total_bytes
    kinds = [f"{kind} {in_bytes(total)}" for kind, total in totals.items()]
    return ", ".join(kinds) or "no collective of more than a few bytes"
