"""REST: the problems, which are public."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Query, Request
from pydantic import BaseModel
from starlette.responses import Response

from app.accounts.request_limits import RequestCounts, report_rate
from app.accounts.web import MaybeUser
from app.core.rest.problem_json import problem_responses
from app.core.rest.routing import RestRouter
from app.core.services import Provided
from app.problems.catalogue import Catalogue
from app.problems.schemas import HintsJSON, ProblemDetail, ProblemList
from app.problems.viewer import viewer
from app.problems.visibility import Visibility
from grader.package.package import Package

router = RestRouter("problems", is_counted=False)

Variant = Annotated[
    str | None,
    Query(max_length=32, description="For instructors: the problem in this variant. Without it, in your own."),
]

# Described here and read by hand, and the rate is reported by a call and not by a dependency: in FastAPI, resolving
# parameters takes as long as all the rest of these responses.
_IF_NONE_MATCH: dict[str, Any] = {
    "parameters": [
        {
            "name": "if-none-match",
            "in": "header",
            "required": False,
            "schema": {"type": "string"},
            "description": "ETags of responses that you have. The response is 304 if one is still current.",
        }
    ]
}
_WITH_ETAG: dict[int | str, dict[str, Any]] = {
    200: {"headers": {"ETag": {"schema": {"type": "string"}, "description": "Changes when the content changes"}}},
    304: {"description": "One of the ETags in If-None-Match is still current. There is no body."},
}


@dataclass(frozen=True, slots=True)
class _Answer:
    """A response about some packages, ready to be sent. `about` is what it was built from."""

    about: object
    body: bytes
    etag: str
    is_own: bool

    def send(self, request: Request) -> Response:
        # no-cache: clients may store it, but must ask each time.
        headers = {"ETag": self.etag, "Cache-Control": "private, no-cache" if self.is_own else "no-cache"}
        tags = request.headers.get("if-none-match", "")
        known = {each.strip().removeprefix("W/") for each in tags.split(",")}
        if known & {self.etag, "*"}:
            return Response(status_code=304, headers=headers)
        return Response(self.body, media_type="application/json", headers=headers)


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
    return _Answer(about, body, f'"{hashlib.sha256(body).hexdigest()[:32]}"', is_own)


@router.get(
    "/problems",
    summary="All problems, in the order of the curriculum",
    response_model=ProblemList,
    responses=_WITH_ETAG,
    openapi_extra=_IF_NONE_MATCH,
)
async def list_problems(request: Request, catalogue: Provided[Catalogue], counts: Provided[RequestCounts]) -> Response:
    await report_rate(request, counts)
    sections = catalogue.listed()
    return _answer("", sections, lambda: ProblemList.of(sections)).send(request)


@router.get(
    "/problems/{slug}",
    summary="One problem",
    response_model=ProblemDetail,
    responses=_WITH_ETAG,
    openapi_extra=_IF_NONE_MATCH,
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
    responses={**_WITH_ETAG, **problem_responses(403)},
    openapi_extra=_IF_NONE_MATCH,
)
async def list_hints(
    request: Request, slug: str, user: MaybeUser, visibility: Provided[Visibility], counts: Provided[RequestCounts]
) -> Response:
    await report_rate(request, counts)
    package = (await visibility.visible(user, slug)).require("hints")
    return _answer(f"{_name_of(package)}/hints", package, lambda: HintsJSON.of(package)).send(request)
