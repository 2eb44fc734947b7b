"""REST: the problems, which are public."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Query, Request
from pydantic import BaseModel
from starlette.responses import Response

from app.accounts.request_limits import RequestCounts, report_rate
from app.accounts.web import MaybeUser
from app.core.rest.list_tags import IF_NONE_MATCH, WITH_ETAG, unless_known
from app.core.rest.problem_json import problem_responses
from app.core.rest.routing import RestRouter
from app.core.services import Provided
from app.core.web.etags import tag_of
from app.problems.catalogue import Catalogue
from app.problems.schemas import HintsJSON, ProblemDetail, ProblemList
from app.problems.viewer import viewer
from app.problems.visibility import Visibility
from grader.package.package import Package

# The rate is reported by a call and not by a dependency, which takes as long as all the rest of these responses.
router = RestRouter("problems", is_counted=False)

Variant = Annotated[
    str | None,
    Query(max_length=32, description="For instructors: the problem in this variant. Without it, in your own."),
]


@dataclass(frozen=True, slots=True)
class _Answer:
    """A response about some packages, ready to be sent. `about` is what it was built from."""

    about: object
    body: bytes
    etag: str
    is_own: bool

    def send(self, request: Request) -> Response:
        response = Response(self.body, media_type="application/json")
        return unless_known(request, response, self.etag, is_own=self.is_own)


# By address: "" for the list, and a slug for its problem. Problems are read much more often than published, and every
# client requests the list first, so each response is built once instead of at each request.
_answers: dict[str, _Answer] = {}


def _name_of(package: Package) -> str:
    return package.slug if package.variant is None else f"{package.slug}?variant={package.variant.name}"


def _answer(name: str, about: object, describe: Callable[[], BaseModel]) -> _Answer:
    # What only some see is not kept for others, nor by a cache on the way.
    if viewer().private:
        return _answer_of(about, describe)
    cached = _answers.get(name)
    if cached is None or cached.about != about:
        cached = _answers[name] = _answer_of(about, describe)
    return cached


def _answer_of(about: object, describe: Callable[[], BaseModel]) -> _Answer:
    body = describe().model_dump_json().encode()
    is_own = bool(viewer().private) or (isinstance(about, Package) and about.variant is not None)
    return _Answer(about, body, tag_of(body), is_own)


@router.get(
    "/problems",
    summary="All problems, in the order of the curriculum",
    response_model=ProblemList,
    responses=WITH_ETAG,
    openapi_extra=IF_NONE_MATCH,
)
async def list_problems(request: Request, catalogue: Provided[Catalogue], counts: Provided[RequestCounts]) -> Response:
    await report_rate(request, counts)
    sections = catalogue.listed()
    return _answer("", sections, lambda: ProblemList.of(sections)).send(request)


@router.get(
    "/problems/{slug}",
    summary="One problem",
    response_model=ProblemDetail,
    responses=WITH_ETAG,
    openapi_extra=IF_NONE_MATCH,
)
async def get_problem(
    request: Request,
    slug: str,
    catalogue: Provided[Catalogue],
    counts: Provided[RequestCounts],
    variant: Variant = None,
) -> Response:
    await report_rate(request, counts)
    package = catalogue.get(slug, variant)
    return _answer(_name_of(package), package, lambda: ProblemDetail.of(package)).send(request)


@router.get(
    "/problems/{slug}/hints",
    summary="The hints of a problem, in the order in which to read them",
    response_model=HintsJSON,
    responses={**WITH_ETAG, **problem_responses(403)},
    openapi_extra=IF_NONE_MATCH,
)
async def list_hints(
    request: Request, slug: str, user: MaybeUser, visibility: Provided[Visibility], counts: Provided[RequestCounts]
) -> Response:
    await report_rate(request, counts)
    package = (await visibility.visible(user, slug)).require("hints")
    return _answer(f"{_name_of(package)}/hints", package, lambda: HintsJSON.of(package)).send(request)
