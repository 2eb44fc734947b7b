"""The pages of a similarity report: the pairs, and two sources side by side. For instructors, and for assistants with
the right `similarity`.
"""

from dataclasses import dataclass
from itertools import zip_longest
from urllib.parse import urlencode

from fastapi import Request
from starlette.responses import HTMLResponse, Response

from app.accounts.web import Grader
from app.core.rest.routing import PageRouter
from app.core.services import Provided
from app.core.web.templating import render_page
from app.problems.catalogue import Catalogue
from app.teaching.courses.course_in_path import CourseForSimilarity
from app.teaching.similarity.compare import MOST_PEOPLE
from app.teaching.similarity.report_file import report_download
from app.teaching.similarity.report_filter import EVERYTHING, LEAST_PERCENT, read_narrowing
from app.teaching.similarity.service import Similarity
from grader.core.text import plain_text

router = PageRouter()
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
    user: Grader,
    of: CourseForSimilarity,
    similarity: Provided[Similarity],
    catalogue: Provided[Catalogue],
) -> HTMLResponse:
    """Pairs of all students, or of those of a course.

    The filter is in the address. The pairs are folded and not paged: each page would compare everyone again, and add
    its own entry to the audit log.
    """
    narrowing = read_narrowing(request.query_params)
    same_people = {"course": of.id} if of else {}
    chosen = {"attempts": narrowing.attempts} if narrowing.attempts != EVERYTHING.attempts else {}
    report = await similarity.report(user, slug, of.id if of else None, narrowing)
    return render_page(
        "teaching/similarity/similarity.html",
        user=user,
        problem=catalogue.get(slug),
        course=of,
        report=report,
        parts=[report.pairs[first : first + _PART] for first in range(0, len(report.pairs), _PART)],
        narrowing=narrowing,
        least=LEAST_PERCENT,
        most_people=MOST_PEOPLE,
        everything=_query(same_people),
        file=_query(same_people | narrowing.address()),
        context=_query(same_people | chosen),
    )


@router.get("/problems/{slug}/similarity.csv")
async def download_report(
    request: Request,
    slug: str,
    user: Grader,
    of: CourseForSimilarity,
    similarity: Provided[Similarity],
) -> Response:
    report = await similarity.report(user, slug, of.id if of else None, read_narrowing(request.query_params))
    return report_download(slug, report)


@router.get("/problems/{slug}/similarity/{one_id}/{other_id}")
async def show_pair(
    request: Request,
    slug: str,
    one_id: str,
    other_id: str,
    user: Grader,
    of: CourseForSimilarity,
    similarity: Provided[Similarity],
    catalogue: Provided[Catalogue],
) -> HTMLResponse:
    """The address also says which report leads here, because the share depends on who else is compared."""
    narrowing = read_narrowing(request.query_params)
    compared = await similarity.pair(user, slug, one_id, other_id, of.id if of else None, narrowing)
    one = _lines(compared.pair.one.source, compared.one_lines)
    other = _lines(compared.pair.other.source, compared.other_lines)
    return render_page(
        "teaching/similarity/similarity_pair.html",
        user=user,
        problem=catalogue.get(slug),
        course=of,
        pair=compared.pair,
        rows=list(zip_longest(one, other)),
        report=_query(({"course": of.id} if of else {}) | narrowing.address()),
    )


def _query(parameters: dict[str, str]) -> str:
    return f"?{urlencode(parameters)}" if parameters else ""


def _lines(source: str, alike: frozenset[int]) -> list[Line]:
    return [Line(plain_text(text), number in alike) for number, text in enumerate(source.split("\n"), 1)]
