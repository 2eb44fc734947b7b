"""Divides the text of a lesson into what the page shows one below the other."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.learning.lessons.lesson import Block, Figure, Misreading, Part, Program, SideNote, Step, Steps, Text
from app.learning.lessons.measured_numbers import placed_blocks
from app.learning.lessons.questions import QuestionUnfit, read_question
from grader.review.figures import active_content
from grader.review.names import suggest

_FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
# A figure alone in its paragraph, or a box from a line with ::: and a word to one with ::: alone.
_PART = re.compile(
    r"^!\[(?P<caption>[^\]]*)\]\(figures/(?P<figure>[^)\s]*)\)$"
    r"|^:::[ ]*(?P<kind>\w+)(?P<about>[^\n]*)\n(?P<inside>.*?)^:::$",
    re.DOTALL | re.MULTILINE,
)
_LEFT_OVER = re.compile(r"^:::.*$|!\[[^\]]*\]\([^)]*\)", re.MULTILINE)
_HEADING = re.compile(r"^#+[ ]+(.*)$", re.MULTILINE)
_BOXES = ("misreading", "question", "steps", "aside")
_STEP = re.compile(r"!\[(?P<name>[^\]:]+): (?P<caption>[^\]]+)\]\(figures/(?P<figure>[^)\s]*)\)")
# The rules of lessons.css that show one of several figures.
_MOST_STEPS = 8
_MISTAKES = re.compile(r"\d\.\d{1,2}( \d\.\d{1,2})*")


def divide(text: str, figures: Mapping[str, str]) -> tuple[tuple[Part, ...], list[str]]:
    """The parts, and what is wrong with them.

    Args:
      text: with its claims filled in.
      figures: the text of each file in figures/, by name.
    """
    faults: list[str] = []
    parts: list[Part] = []
    masked = _FENCE.sub(lambda match: re.sub(r"[^\n]", "x", match[0]), text)
    programs = list(enumerate(placed_blocks(text), 1))
    end = 0
    for place in _PART.finditer(masked):
        parts += _texts(text, end, place.start(), programs)
        end = place.end()
        if place["kind"] is None:
            parts += _figure(place["figure"], place["caption"], figures, faults)
        else:
            inside = text[place.start("inside") : place.end("inside")]
            parts += _box(place["kind"], place["about"].strip(), inside, figures, faults)
    parts += _texts(text, end, len(text), programs)
    prose = _PART.sub("", masked)
    faults += [f"lesson.md has {left!r}, which means nothing in that place" for left in _LEFT_OVER.findall(prose)]
    headings = _HEADING.findall(prose)
    faults += [f"two sections are called {each!r}" for each in sorted(set(headings)) if headings.count(each) > 1]
    shown = {each.name for each in parts if isinstance(each, Figure)}
    shown |= {step.figure.name for each in parts if isinstance(each, Steps) for step in each.steps}
    faults += [f"figures/{name} is not shown" for name in figures if name not in shown]
    return tuple(parts), faults


def _texts(text: str, start: int, end: int, programs: Sequence[tuple[int, tuple[int, int, Block]]]) -> list[Part]:
    """The text from `start` to `end`, and the programs in it."""
    parts: list[Part] = []
    for number, (first, last, block) in programs:
        if start <= first < end:
            parts += [*_text(text[start:first]), Program(number, block)]
            start = last
    return [*parts, *_text(text[start:end])]


def _text(markdown: str) -> list[Part]:
    return [Text(markdown.strip("\n"))] if markdown.strip() else []


def _figure(name: str, caption: str, figures: Mapping[str, str], faults: list[str]) -> list[Figure]:
    svg = figures.get(name)
    if svg is None:
        faults.append(f"lesson.md shows figures/{name}, which does not exist{suggest(name, figures)}")
        return []
    wrong = [fault for _, fault in active_content(svg)]
    # It becomes part of a page whose policy forbids styles in elements.
    if re.search(r"<style|\sstyle=", svg):
        wrong.append("has a style: use the classes of lessons.css, which follow the theme")
    if "<title" not in svg or "<desc" not in svg:
        wrong.append("has no <title> or no <desc>, which tell readers who cannot see it what it shows")
    if not caption.strip():
        wrong.append("has no caption: write it between the square brackets")
    faults += [f"figures/{name} {fault}" for fault in wrong]
    return [] if wrong else [Figure(name, caption, svg)]


def _box(kind: str, about: str, inside: str, figures: Mapping[str, str], faults: list[str]) -> list[Part]:
    first, _, rest = (part.strip() for part in inside.strip().partition("\n\n"))
    if re.search(r"^:::", inside, re.MULTILINE):
        faults.append(f"the box '{kind}' that begins with {first[:40]!r} is not closed: end it with a line :::")
    elif kind not in _BOXES:
        faults.append(f"lesson.md has a box '{kind}'{suggest(kind, _BOXES)}")
    elif not (first if kind == "aside" else rest):
        least = "a paragraph" if kind == "aside" else "two paragraphs or more"
        faults.append(f"the box '{kind}' that begins with {first[:40]!r} needs {least}")
    elif _HEADING.search(_FENCE.sub("", inside)):
        faults.append(f"the box '{kind}' that begins with {first[:40]!r} has a heading")
    elif kind == "question":
        return _question(about, re.split(r"\n\n+", inside.strip()), figures, faults)
    elif kind == "aside":
        return [SideNote(inside.strip())]
    elif kind == "steps":
        return _steps(first, re.split(r"\n\s*", rest), figures, faults)
    elif not _MISTAKES.fullmatch(about):
        faults.append(f"the box 'misreading' that begins with {first[:40]!r} needs the mistake's numbers, as 2.6 0.13")
    else:
        return [Misreading(tuple(about.split()), first, rest)]
    return []


def _question(about: str, paragraphs: list[str], figures: Mapping[str, str], faults: list[str]) -> list[Part]:
    """A question. A figure of its explanation is the last paragraph."""
    drawn = _PART.fullmatch(paragraphs[-1])
    try:
        question = read_question(about, paragraphs[:-1] if drawn else paragraphs)
    except QuestionUnfit as unfit:
        faults.append(f"the question that begins with {paragraphs[0][:40]!r} {unfit}")
        return []
    figure = _figure(drawn["figure"], drawn["caption"], figures, faults) if drawn else []
    return [replace(question, figure=figure[0])] if figure else [question]


def _steps(title: str, lines: list[str], figures: Mapping[str, str], faults: list[str]) -> list[Part]:
    steps: list[Step] = []
    for line in lines:
        step = _STEP.fullmatch(line)
        if step is None:
            faults.append(f"the steps {title[:40]!r} have {line[:60]!r}: write ![Name: caption](figures/name.svg)")
        else:
            name, figure = step["name"].strip(), step["figure"]
            steps += [Step(name, each) for each in _figure(figure, step["caption"], figures, faults)]
    if not 2 <= len(lines) <= _MOST_STEPS:
        faults.append(f"the steps {title[:40]!r} are {len(lines)}: give two to {_MOST_STEPS}")
    return [Steps(title, tuple(steps))]
