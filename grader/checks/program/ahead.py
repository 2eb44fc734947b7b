"""Check that collectives in loops can overlap with the matrix products of the same round."""

from pydantic import Field

from grader.checks.finding import Finding, Located, rejected
from grader.checks.program_subject import Subject
from grader.checks.wording import Wording, listed, small
from grader.core.text import in_bytes
from grader.package.package import CheckBounds, ProgramManifest
from grader.program.collective_uses import CollectiveUse, Kind, collectives_of
from grader.verdicts.evidence import Facts
from grader.verdicts.verdict import Trust

TITLE = "Prefetched one round ahead"
TRUST: Trust = "verified"


class Bounds(CheckBounds):
    """Collectives of these kinds that move less than `ignore_below` bytes over all executions are ignored."""

    kinds: list[Kind] = Field(default=["all-gather"], min_length=1)
    ignore_below: int = Field(default=64, ge=0)


def describe(bounds: Bounds, manifest: ProgramManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    return Wording(
        (
            f"a loop contains {_listed(bounds.kinds)}, and none has to wait for a matrix product of its own round, or "
            "delays one",
        ),
        (
            f"this holds for each {listed(bounds.kinds, 'or')} in a loop, in the compiled program and in the exported "
            "one; each of its rounds computes a matrix product",
            *small(bounds.ignore_below, "collectives"),
        ),
    )


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if, on every mesh, a loop has such collectives, and each can overlap with a product of the same round.

    The exported program is read, too, because a compiler can drop an `optimization_barrier` that makes one wait.
    """
    evidence: list[Facts] = []
    faults: list[Located] = []
    for pair in subject.pairs:
        uses = collectives_of(pair.mine, ignore_below=bounds.ignore_below)
        inside = [each for each in uses if each.in_loop and each.kind in bounds.kinds]
        turns = [each for each in inside if each.takes_turns]
        written = [kind for kind in pair.mine.facts.written_turns if kind in bounds.kinds]
        alone = [each for each in inside if not each.beside_products]
        values: dict[str, bool | int | str] = {
            "collectives": len(inside),
            "take turns with a product": len(turns) or len(written),
        }
        evidence.append(Facts(**subject.entry(pair), about="inside loops", values=values))
        where = f"On {subject.place(pair)}, "
        if turns:
            faults.append(
                Located(
                    where,
                    f"{_name(turns[0])} and a matrix product of the same round take turns, because one needs the "
                    "other's result. In each round, use what the previous round fetched, fetch what the next round "
                    "needs, and pass it on in the loop's carry.",
                )
            )
        elif written and inside:
            faults.append(
                Located(
                    where,
                    f"as the program is written, {_listed(bounds.kinds)} and a matrix product of the same round "
                    "take turns. Something makes one wait for the other, such as an `optimization_barrier`: the CPU "
                    "compiler drops it, but other compilers keep it. Make only the next round wait.",
                )
            )
        elif alone:
            faults.append(
                Located(
                    where,
                    f"the loop with {_name(alone[0])} computes no matrix product, so nothing can hide it. "
                    "Fetch the next round's weight in the loop that multiplies with this round's.",
                )
            )
        elif not inside:
            faults.append(
                Located(where, f"no loop contains {_listed(bounds.kinds)}. Fetch inside the loop, one round ahead.")
            )
    if faults:
        return rejected(faults, "wrong_communication", evidence, shown=1)
    return Finding(True, "No round waits for what it fetches: only later rounds use it.", None, evidence)


def _name(use: CollectiveUse) -> str:
    line = f" on line {use.line}" if use.line else ""
    return f"the {use.kind}{line} ({in_bytes(use.logical_bytes)})"


def _listed(kinds: list[Kind]) -> str:
    return " or ".join(f"an {kind}" if kind[0] == "a" else f"a {kind}" for kind in kinds)
