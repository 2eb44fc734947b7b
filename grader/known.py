"""Known wrong submissions: what is kept of each, to recognise others that are wrong in the same way."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from grader.kept import UNREADABLE, read_frame, write_frame
from grader.package.package import KnownSubmission, Package
from grader.reasons import REASONS


@dataclass(frozen=True, slots=True)
class KnownMistake:
    """A known wrong submission: what its author misunderstood, and what it returns, by case id.

    In program mode `results` are sketches, and `pattern` says how its program is built. Without any of them it tells
    nothing, and no submission is like it.
    """

    misunderstanding: str
    results: dict[str, object]
    pattern: dict[str, object] = field(default_factory=dict)


class AskForKnownMistakes(Protocol):
    """Ask for known wrong submissions, those first that this one is likeliest to be.

    `wrong_result` asks for those whose result is wrong; else for those that are built in a wrong way.
    """

    def __call__(self, *, wrong_result: bool) -> Iterable[KnownMistake]: ...


def runnable(package: Package) -> list[KnownSubmission]:
    """Those that come back with a result, or as far as a program."""
    return [each for each in package.rejected if each.reason and REASONS[each.reason].has_program]


def has_wrong_result(submission: KnownSubmission) -> bool:
    return submission.reason is not None and REASONS[submission.reason].wrong_result


def store_known(folder: Path, name: str, known: KnownMistake) -> None:
    """`name` is the submission's, such as `wrong_value/summed_twice`."""
    message = {"misunderstanding": known.misunderstanding, "pattern": known.pattern}
    write_frame(_file(folder, name), message, known.results)


def load_known(folder: Path, name: str) -> KnownMistake | None:
    """None where it has not been stored."""
    try:
        message, results = read_frame(_file(folder, name))
        return KnownMistake(message["misunderstanding"], results, message["pattern"])
    except UNREADABLE:
        return None


def _file(folder: Path, name: str) -> Path:
    return folder / f"known-{name.replace('/', '-')}.frame"
