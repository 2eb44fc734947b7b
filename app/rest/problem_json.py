"""The one shape of an error in REST, RFC 9457: https://www.rfc-editor.org/rfc/rfc9457"""

from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, ConfigDict

from app.errors import Refused

MEDIA_TYPE = "application/problem+json"

EXAMPLES: dict[int, tuple[str, str, str]] = {
    400: ("body-not-json", "The body is not JSON", "Expecting value at line 1, column 1 of the body."),
    401: ("not-signed-in", "You are not signed in", "Send an API token (Authorization: Bearer …)."),
    403: ("origin-refused", "The request came from another site", "Programs should send an API token."),
    404: (
        "problem-not-found",
        "There is no such problem",
        "There is no problem 'fsdp_stop'. Did you mean 'fsdp_step'?",
    ),
    409: ("attempt-finished", "The attempt is already finished", "The attempt has its verdict."),
    413: (
        "source-too-large",
        "The source is too large",
        "The source has 70000 bytes of UTF-8; at most 65536 are permitted.",
    ),
    415: ("content-type-not-json", "The content type is not JSON", "Expected 'Content-Type: application/json'."),
    422: ("field-missing", "A field is missing", "source: Field required."),
    429: ("too-many-requests", "Too many requests", "More than 1200 requests in a minute. Try again in 42 s; …"),
    503: ("wall-missing", "The sandbox is not complete, so nothing is graded", "Missing: namespaces. To mend it: …"),
}


class ProblemJSON(BaseModel):
    """An error. `slug` is the stable name to match on; `type` is its page; further members depend on it."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str
    slug: str


def problem_content(refused: Refused) -> dict[str, Any]:
    return {
        **refused.extra,
        "type": f"/help/errors#{refused.slug}",
        "title": refused.title,
        "status": refused.status,
        "detail": str(refused),
        "slug": refused.slug,
    }


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """OpenAPI's description of the errors that a route answers with."""
    return {status: _describe(status, *EXAMPLES[status]) for status in statuses}


def _describe(status: int, slug: str, title: str, detail: str) -> dict[str, Any]:
    example = {"type": f"/help/errors#{slug}", "title": title, "status": status, "detail": detail, "slug": slug}
    return {
        "description": HTTPStatus(status).phrase,
        "content": {MEDIA_TYPE: {"schema": ProblemJSON.model_json_schema(), "example": example}},
    }
