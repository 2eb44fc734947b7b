"""The deprecated names of validations in REST: `check`, `checks` and `findings`.

They work until the date in app/core/rest/deprecation.py. Then this file and its tests are deleted.
"""

from typing import Annotated

from fastapi import Query, Request, Response
from pydantic import Field

from app.accounts.web import Instructor
from app.authoring.api import QUEUED
from app.authoring.schemas import ValidationBase, ValidationStepJSON, VersionJSON
from app.authoring.service import Authoring
from app.authoring.validations import Validations
from app.core.errors import CheckNotFound, ValidationNotFound
from app.core.rest.paging import NewestFirst
from app.core.rest.routing import rest_router
from app.core.services import Provided, services_of
from app.core.view import View

router = rest_router("authoring")


class FindingJSON(ValidationStepJSON):
    """One step of a validation."""


class PackageCheckJSON(ValidationBase):
    """A validation, with `findings` for its steps."""

    findings: Annotated[list[FindingJSON], Field(validation_alias="steps")]


class PackageCheckSummaryJSON(ValidationBase):
    """A validation without its steps, with `found` for how many have ended."""

    found: Annotated[int, Field(validation_alias="done")]
    faults: int


class PackageCheckPage(View):
    """For the next page, send `next` as `before`. It is null on the last page."""

    checks: list[PackageCheckSummaryJSON]
    next: str | None


@router.post(
    "/problems/{slug}/check",
    summary="The earlier name of POST /problems/{slug}/validations",
    status_code=202,
    responses=QUEUED,
)
async def check_package(
    response: Response, user: Instructor, slug: str, body: VersionJSON, authoring: Provided[Authoring]
) -> PackageCheckJSON:
    validation = await authoring.validate(slug, body.version)
    response.headers["Location"] = f"/api/v1/problems/{validation.slug}/checks/{validation.id}"
    return PackageCheckJSON.of(validation)


@router.get(
    "/problems/{slug}/checks/{check_id}", summary="The earlier name of GET /problems/{slug}/validations/{validation_id}"
)
async def get_check(request: Request, user: Instructor, slug: str, check_id: str) -> PackageCheckJSON:
    try:
        return PackageCheckJSON.of(await _validations(request).get(slug, check_id))
    except ValidationNotFound as error:
        raise CheckNotFound(str(error)) from None


@router.get("/problems/{slug}/checks", summary="The earlier name of GET /problems/{slug}/validations")
async def list_checks(
    request: Request,
    user: Instructor,
    slug: str,
    cursor: NewestFirst,
    version: Annotated[str | None, Query(pattern="^[0-9a-f]{64}$", description="Only of this version")] = None,
) -> PackageCheckPage:
    try:
        validations = await _validations(request).list(slug, cursor, version)
    except ValidationNotFound as error:
        raise CheckNotFound(str(error)) from None
    return PackageCheckPage(checks=[PackageCheckSummaryJSON.of(each) for each in validations], next=validations.next)


def _validations(request: Request) -> Validations:
    return services_of(request)[Authoring].validations
