"""The pages of a similarity report, for instructors: the pairs, and two sources side by side."""

from dataclasses import dataclass
from itertools import zip_longest
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse

from app.accounts.web import Instructor
from app.core.services import Provided
from app.core.web.templating import render_page
from app.problems.catalogue import Catalogue
from app.teaching.courses.service import Courses
from app.teaching.similarity.compare import MOST_PEOPLE
from app.teaching.similarity.report_filter import LEAST_PERCENT, read_narrowing
from app.teaching.similarity.service import Similarity
from grader.core.text import plain_text

router = APIRouter(include_in_schema=False)
# Pairs in one part of the list. The first part is open.
_PART = 25


@dataclass(frozen=True, slots=True)
class Line:
    text: str
    alike: bool


@router.get("/problems/{slug}/similarity")
async def show_report(
    request: Request,
    slug: str,
    user: Instructor,
    courses: Provided[Courses],
    similarity: Provided[Similarity],
    catalogue: Provided[Catalogue],
    course: Annotated[str | None, Query(max_length=32)] = None,
) -> HTMLResponse:
    """Pairs of all students, or of those of a course.

    The filter is in the address. The pairs are folded and not paged: each page would compare everyone again, and add
    its own entry to the audit log.
    """
    of = await courses.get(user, course) if course else None
    narrowing = read_narrowing(request.query_params)
    report = await similarity.report(user, slug, of.id if of else None, narrowing)
    return render_page(
        "similarity.html",
        user=user,
        problem=catalogue.get(slug),
        course=of,
        report=report,
        parts=[report.pairs[first : first + _PART] for first in range(0, len(report.pairs), _PART)],
        narrowing=narrowing,
        least=LEAST_PERCENT,
        most_people=MOST_PEOPLE,
    )


@router.get("/problems/{slug}/similarity/{one_id}/{other_id}")
async def show_pair(
    slug: str,
    one_id: str,
    other_id: str,
    user: Instructor,
    similarity: Provided[Similarity],
    catalogue: Provided[Catalogue],
) -> HTMLResponse:
    compared = await similarity.pair(user, slug, one_id, other_id)
    one = _lines(compared.pair.one.source, compared.one_lines)
    other = _lines(compared.pair.other.source, compared.other_lines)
    return render_page(
        "similarity_pair.html",
        user=user,
        problem=catalogue.get(slug),
        pair=compared.pair,
        rows=list(zip_longest(one, other)),
    )


def _lines(source: str, alike: frozenset[int]) -> list[Line]:
    return [Line(plain_text(text), number in alike) for number, text in enumerate(source.split("\n"), 1)]
