"""The format of every error in REST, RFC 9457: https://www.rfc-editor.org/rfc/rfc9457"""

from http import HTTPStatus
from typing import Any

from pydantic import BaseModel, ConfigDict

from app.core.errors import Refused

MEDIA_TYPE = "application/problem+json"
# The names in RFC 9110. Python before 3.13 has older ones, and the description is the same on each version.
_PHRASES = {413: "Content Too Large", 422: "Unprocessable Content"}

EXAMPLES: dict[int, tuple[str, str, str]] = {
    400: ("body-not-json", "The body is not JSON", "Expecting value at line 1, column 1 of the body."),
    401: ("not-signed-in", "You are not signed in", "Send an API token (Authorization: Bearer …)."),
    403: ("origin-refused", "The request came from another site", "In a program, send an API token."),
    404: (
        "problem-not-found",
        "There is no such problem",
        "There is no problem 'fsdp_stop'. Did you mean 'fsdp_step'?",
    ),
    409: ("attempt-finished", "The attempt is already finished", "The attempt already has its verdict."),
    413: (
        "source-too-large",
        "The source is too large",
        "The source has 70000 bytes of UTF-8. The limit is 65536.",
    ),
    415: ("content-type-not-json", "The content type is not JSON", "Expected 'Content-Type: application/json'."),
    422: ("field-missing", "A field is missing", "source: is required."),
    429: ("too-many-requests", "Too many requests", "You sent more than 1200 requests in a minute. …"),
    503: ("wall-missing", "Nothing is graded because the sandbox is incomplete", "Missing: namespaces. To fix it: …"),
}


class ProblemJSON(BaseModel):
    """An error. Match on `slug`, which is stable. `type` is its help page. Further members depend on the slug."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str
    slug: str


def problem_content(refusal: Refused) -> dict[str, Any]:
    return {
        **refusal.extra,
        "type": f"/help/errors#{refusal.slug}",
        "title": refusal.title,
        "status": refusal.status,
        "detail": str(refusal),
        "slug": refusal.slug,
    }


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI description of a route's errors."""
    return {status: _describe(status, *EXAMPLES[status]) for status in statuses}


def located_response(status: int, what: str, description: str = "") -> dict[int | str, dict[str, Any]]:
    """The OpenAPI description of a response whose Location header is the address of the `what` that was made."""
    located = {"headers": {"Location": {"schema": {"type": "string"}, "description": f"Address of the {what}"}}}
    return {status: {"description": description, **located} if description else located}


def _describe(status: int, slug: str, title: str, detail: str) -> dict[str, Any]:
    example = {"type": f"/help/errors#{slug}", "title": title, "status": status, "detail": detail, "slug": slug}
    return {
        "description": _PHRASES.get(status) or HTTPStatus(status).phrase,
        "content": {
            MEDIA_TYPE: {"schema": {"$ref": f"#/components/schemas/{ProblemJSON.__name__}"}, "example": example}
        },
    }
