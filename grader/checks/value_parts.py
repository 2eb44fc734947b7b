"""Parts of the check `values` in call mode: outputs and cases that earn points even if others are wrong."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from pydantic import Field

from grader.checks.call_outcome import Outcome, Tolerances
from grader.checks.compare import compare
from grader.checks.wording import listed, named
from grader.core.wire import leaves
from grader.package.package import CheckBounds, Line
from grader.verdicts.evidence import Facts

EVERYTHING = "*"


class Part(CheckBounds):
    """Outputs and cases, by globs of leaf paths and of ids, that together earn `points` if they are right."""

    title: Line
    points: int = Field(ge=1, le=100)
    outputs: list[Line] = Field(default_factory=lambda: [EVERYTHING], min_length=1, max_length=32)
    cases: list[Line] = Field(default_factory=lambda: [EVERYTHING], min_length=1, max_length=32)

    def has_case(self, id: str) -> bool:
        return any(fnmatchcase(id, each) for each in self.cases)

    def outputs_of(self, result: object) -> dict[str, object]:
        """The leaves of a result that belong to it, by path."""
        return {path: leaf for path, leaf in leaves(result) if any(fnmatchcase(path, each) for each in self.outputs)}


def right_parts(parts: Sequence[Part], outcomes: Sequence[Outcome], tolerances: Tolerances) -> list[Part]:
    """The parts whose outputs are right in all of their cases. A part without a case, as in a run, is not."""
    found = []
    for part in parts:
        those = [outcome for outcome in outcomes if part.has_case(outcome.case.id)]
        if those and all(_is_right(part, outcome, tolerances) for outcome in those):
            found.append(part)
    return found


def points_evidence(parts: Sequence[Part], right: Sequence[Part]) -> Facts:
    values: dict[str, bool | int | str] = {
        part.title: f"{part.points if part in right else 0} of {part.points}" for part in parts
    }
    return Facts(about="points of the parts", values=values)


def points_message(parts: Sequence[Part], right: Sequence[Part]) -> str:
    """Say which parts are right and which are wrong, with the points of each."""
    wrong = [part for part in parts if part not in right]
    sentences = [
        f"{word}: {listed(_worth(part) for part in those)}."
        for word, those in (("Right", right), ("Wrong", wrong))
        if those
    ]
    return " ".join(sentences)


def wording_of(part: Part) -> str:
    """Say in one sentence what earns the points of a part."""
    what = "every output" if EVERYTHING in part.outputs else named(part.outputs)
    where = "every case" if EVERYTHING in part.cases else listed(part.cases)
    verb = "matches" if what == "every output" or len(part.outputs) == 1 else "match"
    return f"{part.title}, {part.points} of the points: {what} {verb} the reference in {where}, whatever else is wrong"


def _is_right(part: Part, outcome: Outcome, tolerances: Tolerances) -> bool:
    if outcome.got is None:
        return False
    expected, got = part.outputs_of(outcome.expected.result), part.outputs_of(outcome.got.result)
    return compare(expected, got, tolerances) is None


def _worth(part: Part) -> str:
    return f"{part.title} ({part.points} {'point' if part.points == 1 else 'points'})"
