"""What is wrong with receipts, with the texts that they stand for, and with results that are measured again."""

from collections.abc import Callable, Iterator, Sequence

from tests.prove.kind import COMMAND, Kind, Receipts
from tests.prove.measuring import Job, Outcome, measure
from tests.selection import is_drawn

Measure = Callable[[Sequence[Job], int], Iterator[Outcome]]


def faults(kind: Kind, receipts: Receipts) -> list[str]:
    """The units without a receipt of today, the receipts without a unit, and the command that fixes both."""
    found = [
        f"{kind.name}/{unit} {fault}" for unit in kind.units() if (fault := receipts.fault(kind, unit)) is not None
    ]
    found += [f"{kind.name}/{path.stem} no longer exists" for path in receipts.left_over(kind)]
    return [*found, f"Measure again: {COMMAND}"] if found else []


def differences(kind: Kind, receipts: Receipts) -> list[str]:
    """What texts say wrongly of the units whose receipts are of today."""
    return [
        line
        for unit in kind.units()
        if receipts.fault(kind, unit) is None
        for line in kind.differences(unit, receipts.measured(kind, unit))
    ]


def drawn(kind: Kind) -> list[str]:
    """The units that a run measures again: one in sixteen, by what decides each of them."""
    return [unit for unit in kind.units() if is_drawn(kind.of(unit))]


def measured_again(
    kind: Kind, units: Sequence[str], receipts: Receipts, measure: Measure = measure, processes: int = 1
) -> list[str]:
    """What differs from the receipts of these units."""
    found = []
    for each in measure([(kind, unit) for unit in units], processes):
        name = f"{kind.name}/{each.unit}"
        if each.failure:
            found.append(f"{name} cannot be measured: {each.failure}")
        else:
            apart = kind.apart(receipts.measured(kind, each.unit), kind.kept(each.result))
            found += [f"{name}: {line}" for line in apart]
    return [*found, f"If that is right: {COMMAND} {' '.join(units)}"] if found else []
