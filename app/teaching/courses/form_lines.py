"""What the forms of a course have on lines of a text, as REST has it: the problems of an assignment, and categories."""

import re
from collections.abc import Sequence
from typing import Any

from app.core.errors import FieldInvalid
from app.teaching.courses.categories import MOST_DROPPED, MOST_WEIGHT
from app.teaching.courses.grade_arithmetic import Category
from app.teaching.courses.service import MOST_POINTS, AssignedProblem

_CATEGORY = re.compile(r"(?P<name>.+):\s*(?P<weight>[0-9]{1,4})(?:\s*,\s*drop\s+(?P<drop>[0-9]{1,2}))?", re.ASCII)


def problems_of_lines(text: str) -> list[dict[str, Any]]:
    """A problem on each line, by its slug, or a pool of them, and the points, or 100.

    Raises:
      FieldInvalid: with the number of the line.
    """
    found: list[dict[str, Any]] = []
    places = 0
    for number, line in enumerate(text.split("\n"), 1):
        *pool, last = (each.split() for each in line.split("|"))
        if not pool and not last:
            continue
        places += 1
        slug, points = (*last, "100")[:2] if last else ("", "")
        is_number = points.isascii() and points.isdecimal() and len(points) <= 4 and int(points) <= MOST_POINTS
        is_pool = all(len(each) == 1 for each in pool) and not (pool and slug.isdecimal())
        if len(last) > 2 or not is_number or not is_pool:
            raise FieldInvalid(
                f"problems: line {number} must be a problem and its points, 0 to {MOST_POINTS}, such as "
                "'fsdp_step 100', or a pool of problems and their points, such as 'fsdp_step | hsdp_step 100'."
            )
        slugs = [*(each[0] for each in pool), slug]
        place = {"points": int(points), "pool": places if pool else None}
        found += [{"problem": each, **place} for each in slugs]
    return found


def line_of_place(place: Sequence[AssignedProblem]) -> str:
    """As it is typed: a problem, or those of a pool, and the points."""
    return f"{' | '.join(each.problem for each in place)} {place[0].points}"


def categories_of_lines(text: str) -> list[dict[str, Any]]:
    """A category on each line, such as `Homework: 40, drop 1`.

    Raises:
      FieldInvalid: with the number of the line.
    """
    found: list[dict[str, Any]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        match = _CATEGORY.fullmatch(line.strip())
        weight, drop = (int(match["weight"]), int(match["drop"] or 0)) if match else (0, 0)
        if match is None or weight > MOST_WEIGHT or drop > MOST_DROPPED:
            raise FieldInvalid(
                f"categories: line {number} must be a name, a colon and a weight of 0 to {MOST_WEIGHT}, such as "
                f"'Homework: 40'. To leave out 0 to {MOST_DROPPED} assignments: 'Homework: 40, drop 1'."
            )
        found.append({"name": match["name"].strip(), "weight": weight, "drop_lowest": drop})
    return found


def line_of_category(category: Category) -> str:
    """As it is typed."""
    dropped = f", drop {category.drop_lowest}" if category.drop_lowest else ""
    return f"{category.name}: {category.weight}{dropped}"
