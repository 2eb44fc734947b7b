"""The problems of an assignment as rows of its form, in order: chosen, moved and removed, with or without a script.

A row has two fields, `problem-N` and `points-N`. The order of the rows is that of the fields. What a form sends becomes
the lines that `problems_of_lines` reads, so rows and pasted lines are refused in the same words.
"""

import re
from dataclasses import dataclass

from app.core.errors import FieldInvalid
from app.core.rest.actions import Typed
from app.core.web.forms import MAX_FIELDS as _OTHER_FIELDS
from app.problems.catalogue import Catalogue
from app.teaching.courses.service import MOST_PROBLEMS

MAX_FIELDS = _OTHER_FIELDS + 2 * MOST_PROBLEMS
_ROW = re.compile(r"problem-([0-9]{1,4})", re.ASCII)
_USUAL_POINTS = "100"


@dataclass(frozen=True, slots=True)
class ProblemRow:
    """`value` is a slug, or those of a pool with bars between them. `about` is the track and difficulty of each."""

    value: str
    title: str
    about: str
    points: str


def about_problems(catalogue: Catalogue) -> dict[str, str]:
    """The track and difficulty of each problem, by its slug."""
    return {
        package.slug: f"{section.title}, {package.manifest.difficulty}"
        for section in catalogue.listed()
        for package in section.packages
    }


def rows_of(text: str, catalogue: Catalogue) -> list[ProblemRow]:
    """The rows for lines, even for those that are wrong: the reader corrects them there."""
    titles, about = catalogue.titles(), about_problems(catalogue)
    rows = []
    for line in filter(None, map(str.strip, text.split("\n"))):
        value, _, points = line.rpartition(" ")
        value = value.strip()
        if not value or value.endswith("|"):
            value, points = line, _USUAL_POINTS
        slugs = [each.strip() for each in value.split("|")]
        rows.append(
            ProblemRow(
                value=value,
                title=" or ".join(titles.get(each, each) for each in slugs),
                about="; ".join(dict.fromkeys(about[each] for each in slugs if each in about)),
                points=points,
            )
        )
    return rows


def take_rows(catalogue: Catalogue, typed: Typed) -> bool:
    """Take the fields of the rows, and of the buttons beside them, out of `typed`, whose `problems` then has a line for
    each row. Return whether such a button was pressed.

    An empty choice of a problem is none, because Enter presses the button that adds one.

    Raises:
      FieldInvalid: no problem, or more than one, is called like the choice.
    """
    numbers = [match[1] for match in map(_ROW.fullmatch, typed) if match]
    lines = [f"{typed.pop(f'problem-{each}')} {typed.pop(f'points-{each}', '')}".strip() for each in numbers]
    step, _, number = typed.pop("step", "").partition("-")
    choice = typed.pop("add", "").strip()
    place = numbers.index(number) if number in numbers else None
    if place is not None and step == "remove":
        del lines[place]
    elif place is not None and step in ("up", "down"):
        other = min(max(place + (1 if step == "down" else -1), 0), len(lines) - 1)
        lines[place], lines[other] = lines[other], lines[place]
    lines += [each for each in typed["problems"].split("\n") if each.strip()]
    typed["problems"] = "\n".join(lines)
    if step == "add" and choice:
        typed["problems"] = "\n".join([*lines, f"{_chosen(catalogue, choice)} {_USUAL_POINTS}"])
        return True
    return place is not None and step in ("up", "down", "remove")


def _chosen(catalogue: Catalogue, choice: str) -> str:
    """The slug that a choice means, or for several choices with bars between them, those of a pool."""
    slugs = []
    for each in choice.split("|"):
        found = catalogue.find(each)
        if found is None:
            raise FieldInvalid(
                f"add: no problem, or more than one, matches {each.strip()[:100]!r}. Choose one from the list."
            )
        slugs.append(found.slug)
    return " | ".join(slugs)
