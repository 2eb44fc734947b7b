"""What a lesson is: parts in the order of the page, and the measured numbers in them."""

import functools
import math
import re
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict

from grader.answers.answer_text import Value
from grader.inputs.explored_function import Function
from grader.package.package import AnswerSpec

_STRICT = ConfigDict(strict=True, extra="forbid", frozen=True)
# A problem that is named as *slug*, which the page turns into a link.
NAMED_PROBLEM = re.compile(r"(?<![*\w])\*([a-z0-9]+(?:_[a-z0-9]+)+)\*(?!\*)")
_CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


class Claim(BaseModel):
    """One measured number, or a name that JAX gave, such as that of an error. `what` says what was measured."""

    model_config = _STRICT

    value: int | float | str
    unit: str
    what: str

    @property
    def number(self) -> str:
        if isinstance(self.value, str):
            return self.value
        return f"{self.value:,}" if isinstance(self.value, int) else f"{self.value:.3g}"

    @property
    def text(self) -> str:
        return f"{self.number} {self.unit}" if self.unit else self.number


class Claims(BaseModel):
    """claims.json: all claims of a lesson by name, measured with one version of JAX on this many host devices."""

    model_config = _STRICT

    jax: str
    devices: int
    by_name: dict[str, Claim]


@dataclass(frozen=True, slots=True)
class Text:
    """Markdown, with its claims filled in."""

    markdown: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing that becomes part of the page and follows its theme. `caption` is the Markdown's alternative text."""

    name: str
    caption: str
    svg: str


@dataclass(frozen=True, slots=True)
class Step:
    """One figure of several that the reader goes through. The figure's caption begins with `name` and a colon."""

    name: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class Steps:
    """Figures of which the page shows one at a time. `title` is Markdown and says what all of them show."""

    title: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Misreading:
    """A wrong claim that a reader may have met elsewhere, and what was measured instead. Both are Markdown.

    `mistakes` are its numbers in the list of mistakes, where it has one for each text that makes it.
    """

    mistakes: tuple[str, ...]
    wrong: str
    right: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question to check oneself with. `text`, the choices of `spec` and the explanation are Markdown.

    `slips` are wrong answers, each with what it shows, in Markdown. `figure` belongs to the explanation.
    """

    text: str
    spec: AnswerSpec
    right: Value
    explanation: str
    slips: tuple[tuple[Value, str], ...] = ()
    figure: Figure | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A program of a lesson, as it is printed.

    Attributes:
      output: what the page says that it prints.
      runs_here: false if it needs what the sandbox denies. The page then only shows it, and the notebook runs it.
    """

    code: str
    output: str
    runs_here: bool = True


@dataclass(frozen=True, slots=True)
class Program:
    """A program that the reader can change and run. `number` counts the programs of the lesson from 1."""

    number: int
    block: Block


@dataclass(frozen=True, slots=True)
class SideNote:
    """Markdown that leaves the lesson's line of thought: it is beside the text if there is room."""

    markdown: str


Part = Text | Program | Figure | Steps | Misreading | Question | SideNote


@dataclass(frozen=True, slots=True)
class Explorable:
    """A program that the Explorer opens: one of its functions, with a mesh and inputs.

    `expected` names the kinds of collectives, for the test that compiles it.
    """

    program: int
    title: str
    function: Function
    expected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lesson:
    """`problems` are slugs to go on with. `markdown` is the whole text, with its claims filled in."""

    slug: str
    title: str
    summary: str
    problems: tuple[str, ...]
    markdown: str
    # What follows is long, and the fields before it tell lessons apart.
    parts: tuple[Part, ...] = field(hash=False)
    blocks: tuple[Block, ...] = field(hash=False)
    claims: Claims = field(hash=False)
    explorable: tuple[Explorable, ...] = field(default=(), hash=False)

    @property
    def minutes(self) -> int:
        """How long the lesson takes: 200 words of prose a minute, and a minute for each program."""
        return math.ceil(_words_of_prose(self.markdown) / 200) + len(self.blocks)


@functools.lru_cache(maxsize=256)
def _words_of_prose(markdown: str) -> int:
    """Counted once for each text: the list of problems shows the minutes of every lesson."""
    return len(_CODE.sub("", markdown).split())
