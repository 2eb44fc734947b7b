"""Check that the new state reuses the memory of the old one."""

from grader.checks.finding import Finding, Located, rejected
from grader.checks.program_subject import Subject
from grader.checks.wording import Wording
from grader.core.text import in_bytes
from grader.package.package import CheckBounds, ProgramManifest
from grader.program.facts import ProgramLeaf
from grader.program.measurement import Measured
from grader.verdicts.evidence import Amount, Amounts
from grader.verdicts.verdict import Trust

TITLE = "The state is donated"
TRUST: Trust = "verified"
PROMISE = r"\bmust be donated\b"
Bounds = CheckBounds
_MAX_KINDS, _MAX_NAMED = 4, 2


def describe(bounds: Bounds, manifest: ProgramManifest) -> Wording:
    """Describe the bounds in words; see `Wording`."""
    return Wording(
        ("the step overwrites the whole state in place",),
        ("bytes overwritten on a device: the whole state, or as many as in the reference if that is less",),
    )


def check(subject: Subject, bounds: Bounds) -> Finding:
    """Pass if all bytes of the state on a device are aliased, or at least as many as in the reference."""
    evidence: list[Amounts] = []
    faults: list[Located] = []
    for pair in subject.pairs:
        donated = pair.mine.facts.memory.alias_bytes
        state = max(pair.mine.state_bytes(device) for device in range(pair.mine.facts.devices))
        reference = pair.reference.facts.memory.alias_bytes
        expected = min(state, reference)
        evidence.append(
            Amounts(
                **subject.entry(pair),
                title="Donated bytes on each device",
                unit="bytes",
                whole_title="whole state",
                rows=[Amount(name="donated state", mine=donated, reference=None, whole=state, at_least=expected)],
            )
        )
        if donated < expected:
            faults.append(
                Located(
                    f"On {subject.place(pair)}, ",
                    f"only {in_bytes(donated)} of the {in_bytes(state)} of state on each device "
                    "is overwritten in place, so the device holds the old and the new state at the same time. A leaf "
                    "can be donated if its new value has the same shape, dtype and sharding as the old one."
                    + _changes(pair.mine),
                )
            )
    if faults:
        return rejected(faults, "not_donated", evidence)
    return Finding(True, "The whole state is overwritten in place.", None, evidence)


def _changes(mine: Measured) -> str:
    """One sentence for each kind of change between the state's leaves before and after the step."""
    new = dict(mine.out)
    kinds: dict[tuple[str, str], list[str]] = {}
    for path, old in mine.state_in:
        if path in new and (change := _change(old, new[path])):
            kinds.setdefault(change, []).append(path)
    sentences = []
    for (before, after), paths in list(kinds.items())[:_MAX_KINDS]:
        more = len(paths) - _MAX_NAMED
        names = f"{', '.join(paths[:_MAX_NAMED])} and {more} more" if more > 0 else " and ".join(paths)
        comes, returns = ("comes", "returns") if len(paths) == 1 else ("come", "return")
        sentences.append(f" {names} {comes} in as {before} and {returns} as {after}.")
    return "".join(sentences)


def _change(old: ProgramLeaf, new: ProgramLeaf) -> tuple[str, str] | None:
    """Return the old and new shape, dtype and spec in words, as far as they differ; None if they do not."""
    if old.shape != new.shape:
        return f"an array of shape {old.shape}", f"one of shape {new.shape}"
    dtypes = [old.dtype, new.dtype] if old.dtype != new.dtype else ["", ""]
    specs = [old.spec, new.spec] if old.slices != new.slices else ["", ""]
    before, after = (" ".join(filter(None, each)) for each in zip(dtypes, specs, strict=True))
    return (before, after) if before else None
