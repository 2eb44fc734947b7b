"""What the page of a lesson says about a run of one of its programs."""

from dataclasses import dataclass
from itertools import zip_longest
from typing import Literal

from markupsafe import Markup

from app.learning.lessons.compiled import Compiled
from app.learning.lessons.lesson import Block, Program
from app.learning.lessons.runs import LessonRun, prints_the_same
from app.presentation.drawings.timeline import calls_of, draw_timeline
from grader.core.reasons import Reason
from grader.explorer.script import Printed

_ENDED: dict[Reason, str] = {
    "syntax_error": "Python cannot read the program",
    "time_limit": "The program took too long",
    "memory_limit": "The program used too much memory",
    "output_limit": "The program printed too much",
    "divergent_collective": "The devices wait for each other",
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """A sentence about a run, and more about a fault. `tone` is the class of its notice."""

    tone: Literal["good", "warn", "bad", ""]
    text: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Sent:
    """What a function of the reader's program sends: a sentence in Markdown, and a drawing if it sends something.

    `detail` says why it could not be compiled.
    """

    sentence: str
    drawing: Markup | None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ProgramRunView:
    """A program and its run.

    Attributes:
      source: what the text area shows.
      is_changed: the source differs from that of the lesson.
      run: None if there is none.
      outcome: None if there is no run, or if it has not finished.
      sent: None if the lesson names no function of the program, or if it did not run to its end.
    """

    number: int
    source: str
    is_changed: bool
    expected: str
    run: LessonRun | None
    outcome: Outcome | None
    stdout: str
    stderr: str
    sent: Sent | None


def view_program(program: Program, run: LessonRun | None, source: str | None = None) -> ProgramRunView:
    """`source` replaces that of the run, which stays on the page if the next one is refused."""
    block, result = program.block, run.result if run else None
    shown = source if source is not None else run.source if run else block.code
    return ProgramRunView(
        number=program.number,
        source=shown,
        is_changed=shown.strip() != block.code.strip(),
        expected=block.output,
        run=run,
        outcome=_outcome_of(result, block) if result else None,
        stdout=result.stdout if result else "",
        stderr=result.stderr if result else "",
        sent=_sent_by(run.compiled) if run and run.compiled else None,
    )


def _sent_by(found: Compiled) -> Sent:
    title = f"What {found.function.name} sends, in program order"
    drawn = draw_timeline(title, {"": calls_of(found.collectives)}) if found.collectives else None
    return Sent(found.sentence, drawn, found.fault)


def _outcome_of(result: Printed, block: Block) -> Outcome:
    fault = result.fault
    if fault is not None:
        if fault.reason is None:
            return Outcome("bad", fault.message)
        where = f", line {fault.line}" if fault.line else ""
        title = _ENDED.get(fault.reason, "The program ended with an error")
        return Outcome("bad", f"{title}{where}.", fault.message)
    if result.truncated:
        return Outcome("warn", "The program printed too much: only the first 16 KiB are shown.")
    if not block.output:
        return Outcome("", "The program finished.")
    if prints_the_same(result, block):
        return Outcome("good", "It printed what the lesson shows.")
    line = _first_difference(result.stdout, block.output)
    return Outcome("warn", f"The output differs from what the lesson shows, starting at line {line}.")


def _first_difference(mine: str, theirs: str) -> int:
    both = zip_longest(mine.rstrip().splitlines(), theirs.rstrip().splitlines())
    return next((number for number, (one, other) in enumerate(both, 1) if one != other), 1)
