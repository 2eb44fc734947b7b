"""REST: the problems, open to everybody."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.responses import Response

from app.accounts.counted import tell_rate
from app.problems.schemas import ProblemDetail, ProblemList
from app.problems.service import Catalogue
from app.problems.services import ProblemServices
from app.rest.problem_json import problem_responses
from app.services import services_of

router = APIRouter(tags=["problems"])

# Described here and read by hand, and the rate is told by a call and not by a dependency: to work parameters out takes
# FastAPI as long as all the rest of these answers.
_IF_NONE_MATCH: dict[str, Any] = {
    "parameters": [
        {
            "name": "if-none-match",
            "in": "header",
            "required": False,
            "schema": {"type": "string"},
            "description": "ETags of answers that you have; 304 if one is still right",
        }
    ]
}
_WITH_ETAG: dict[int | str, dict[str, Any]] = {
    200: {"headers": {"ETag": {"schema": {"type": "string"}, "description": "Changes with the content"}}},
    304: {"description": "One of the ETags in If-None-Match is still right; there is no body"},
}


@dataclass(frozen=True, slots=True)
class _Answer:
    """What is told of some packages, ready to be sent. `about` is what it was made of."""

    about: object
    body: bytes
    etag: str

    def send(self, request: Request) -> Response:
        # no-cache: to be kept, and asked about each time.
        headers = {"ETag": self.etag, "Cache-Control": "no-cache"}
        asked = request.headers.get("if-none-match", "")
        known = {each.strip().removeprefix("W/") for each in asked.split(",")}
        if known & {self.etag, "*"}:
            return Response(status_code=304, headers=headers)
        return Response(self.body, media_type="application/json", headers=headers)


# By slug, and "" for the list. Problems are read much more often than published, and the list is the first that every
# client asks for, so that it is described once and not at each request.
_answers: dict[str, _Answer] = {}


def _answer(name: str, about: object, describe: Callable[[], BaseModel]) -> _Answer:
    kept = _answers.get(name)
    if kept is None or kept.about != about:
        body = describe().model_dump_json().encode()
        kept = _answers[name] = _Answer(about, body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
    return kept


def _catalogue(request: Request) -> Catalogue:
    return services_of(request, ProblemServices).catalogue


@router.get(
    "/problems",
    summary="All problems, in the order of the curriculum",
    response_model=ProblemList,
    responses=_WITH_ETAG,
    openapi_extra=_IF_NONE_MATCH,
)
async def list_problems(request: Request) -> Response:
    await tell_rate(request)
    sections = _catalogue(request).sections()
    return _answer("", sections, lambda: ProblemList.of(sections)).send(request)


@router.get(
    "/problems/{slug}",
    summary="One problem",
    response_model=ProblemDetail,
    responses={**_WITH_ETAG, **problem_responses(404)},
    openapi_extra=_IF_NONE_MATCH,
)
async def get_problem(request: Request, slug: str) -> Response:
    await tell_rate(request)
    package = _catalogue(request).get(slug)
    return _answer(package.slug, package, lambda: ProblemDetail.of(package)).send(request)
