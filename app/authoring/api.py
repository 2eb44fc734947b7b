"""REST for instructors: upload versions of a problem, have them checked, and publish one."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from app.accounts.caller import User
from app.accounts.web import require_role
from app.authoring.schemas import (
    KeptVersionJSON,
    PackageCheckJSON,
    PackageCheckPage,
    PackageCheckSummaryJSON,
    PublicationJSON,
    PublicationPage,
    PublicationRecordJSON,
    PublishJSON,
    UploadJSON,
    VersionJSON,
    VersionPage,
)
from app.authoring.service import Authoring
from app.authoring.services import AuthoringServices
from app.authoring.zipped import MAX_ZIP_BYTES
from app.errors import ContentTypeNotZip
from app.rest.body import body_of, read_body, read_json
from app.rest.problem_json import problem_responses
from app.services import services_of

router = APIRouter(tags=["authoring"])
Instructor = Annotated[User, Depends(require_role("instructor"))]
Limit = Annotated[int, Query(ge=1, le=100)]
Before = Annotated[str | None, Query(pattern="^[0-9a-f]{32}$", description="`next` of the page before")]
_ZIP = "application/zip"
_ZIP_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": f"The files of the package, problem.toml at the top; at most {MAX_ZIP_BYTES >> 20} MiB",
        "content": {_ZIP: {"schema": {"type": "string", "format": "binary"}}},
    }
}


def _authoring(request: Request) -> Authoring:
    return services_of(request, AuthoringServices).authoring


@router.put(
    "/problems/{slug}",
    summary="Upload a version of a problem's package; it is kept, and not yet served",
    status_code=201,
    responses={
        200: {"description": "This version was there already", "model": UploadJSON},
        **problem_responses(400, 401, 403, 409, 413, 415, 422),
    },
    openapi_extra=_ZIP_BODY,
)
async def upload_package(request: Request, response: Response, user: Instructor, slug: str) -> UploadJSON:
    given = request.headers.get("content-type", "")
    if given.split(";")[0].strip().lower() != _ZIP:
        raise ContentTypeNotZip(
            f"Expected the header 'Content-Type: {_ZIP}', got {given[:80]!r}. "
            f"With curl: curl -T package.zip -H 'Content-Type: {_ZIP}' …"
        )
    data = await read_body(request, MAX_ZIP_BYTES, "more than a zipped package may have")
    upload = await _authoring(request).upload(user, slug, data)
    response.status_code = 201 if upload.is_new else 200
    return UploadJSON.of(upload)


@router.post(
    "/problems/{slug}/check",
    summary="Check a version with the judge: does each submission in it get the verdict that it must?",
    status_code=202,
    responses={
        202: {
            "description": "Queued; follow it at the address in the Location header",
            "headers": {"Location": {"schema": {"type": "string"}, "description": "Address of the check"}},
        },
        **problem_responses(400, 401, 403, 404, 413, 415, 422, 503),
    },
    openapi_extra=body_of(VersionJSON),
)
async def check_package(request: Request, response: Response, user: Instructor, slug: str) -> PackageCheckJSON:
    body = await read_json(request, VersionJSON)
    proof = await _authoring(request).check(slug, body.version)
    response.headers["Location"] = f"/api/v1/problems/{proof.slug}/checks/{proof.id}"
    return PackageCheckJSON.of(proof)


@router.get(
    "/problems/{slug}/checks/{check_id}",
    summary="One check: how far it is, and what it found",
    responses=problem_responses(401, 403, 404),
)
async def get_check(request: Request, user: Instructor, slug: str, check_id: str) -> PackageCheckJSON:
    return PackageCheckJSON.of(await _authoring(request).proofs.get(slug, check_id))


@router.post(
    "/problems/{slug}/publish",
    summary="Serve a version from now on; attempts that were made before keep theirs",
    responses=problem_responses(400, 401, 403, 404, 409, 413, 415, 422),
    openapi_extra=body_of(PublishJSON),
)
async def publish_package(request: Request, user: Instructor, slug: str) -> PublicationJSON:
    body = await read_json(request, PublishJSON)
    return PublicationJSON.of(await _authoring(request).publish(user, slug, body.version, force=body.force))


@router.get(
    "/problems/{slug}/versions",
    summary="Every version of a problem that is kept, newest first",
    responses=problem_responses(401, 403, 404, 422),
)
async def list_versions(
    request: Request,
    user: Instructor,
    slug: str,
    limit: Limit = 20,
    before: Annotated[str | None, Query(pattern="^[0-9a-f]{64}$", description="`next` of the page before")] = None,
) -> VersionPage:
    found = await _authoring(request).history.versions(slug, limit + 1, before)
    return VersionPage(
        versions=[KeptVersionJSON.of(each) for each in found[:limit]],
        next=found[limit - 1].version if len(found) > limit else None,
    )


@router.get(
    "/problems/{slug}/publications",
    summary="Which version was published when, by whom, and whether its check had passed; newest first",
    responses=problem_responses(401, 403, 404, 422),
)
async def list_publications(
    request: Request, user: Instructor, slug: str, limit: Limit = 20, before: Before = None
) -> PublicationPage:
    found = await _authoring(request).history.publications(slug, limit + 1, before)
    return PublicationPage(
        publications=[PublicationRecordJSON.of(each) for each in found[:limit]],
        next=found[limit - 1].id if len(found) > limit else None,
    )


@router.get(
    "/problems/{slug}/checks",
    summary="The checks of a problem's versions, newest first, without their findings",
    responses=problem_responses(401, 403, 404, 422),
)
async def list_checks(
    request: Request,
    user: Instructor,
    slug: str,
    version: Annotated[str | None, Query(pattern="^[0-9a-f]{64}$", description="Only of this version")] = None,
    limit: Limit = 20,
    before: Before = None,
) -> PackageCheckPage:
    found = await _authoring(request).proofs.list(slug, version, limit + 1, before)
    return PackageCheckPage(
        checks=[PackageCheckSummaryJSON.of(each) for each in found[:limit]],
        next=found[limit - 1].id if len(found) > limit else None,
    )
