"""REST for instructors: upload versions of a problem, validate them, and publish one."""

from typing import Annotated, Any

from fastapi import Path, Query, Request, Response

from app.accounts.web import Instructor
from app.authoring.package_zip import MAX_ZIP_BYTES
from app.authoring.pages import VersionPage as PageOfVersion
from app.authoring.schemas import (
    PublicationJSON,
    PublicationPage,
    PublishJSON,
    UploadJSON,
    ValidationJSON,
    ValidationPage,
    ValidationSummaryJSON,
    VersionJSON,
    VersionPage,
)
from app.authoring.service import Authoring
from app.core.errors import ContentTypeNotZip
from app.core.rest.actions import Actions
from app.core.rest.body import read_body
from app.core.rest.paging import Cursor, Limit, NewestFirst
from app.core.rest.problem_json import located_response, problem_responses
from app.core.services import Provided

actions = Actions("authoring", PageOfVersion)
router = actions.api
_ZIP = "application/zip"
_ZIP_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": f"The files of the package, with problem.toml at the top. At most {MAX_ZIP_BYTES >> 20} MiB.",
        "content": {_ZIP: {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.put(
    "/problems/{slug}",
    summary="Upload a version of a problem's package, without publishing it",
    status_code=201,
    responses={
        200: {"description": "This version was already stored", "model": UploadJSON},
        **problem_responses(400, 409, 413, 415, 422),
    },
    openapi_extra=_ZIP_BODY,
)
async def upload_package(
    request: Request, response: Response, user: Instructor, slug: str, authoring: Provided[Authoring]
) -> UploadJSON:
    content_type = request.headers.get("content-type", "")
    if content_type.split(";")[0].strip().lower() != _ZIP:
        raise ContentTypeNotZip(
            f"Expected the header 'Content-Type: {_ZIP}', got {content_type[:80]!r}. "
            f"With curl: curl -T package.zip -H 'Content-Type: {_ZIP}' …"
        )
    data = await read_body(request, MAX_ZIP_BYTES, "which is too much for a zipped package")
    upload = await authoring.upload(user, slug, data)
    response.status_code = 201 if upload.is_new else 200
    return UploadJSON.of(upload)


@actions.post(
    "/problems/{slug}/validations",
    form="/authoring/{slug}/validate",
    then="/authoring/{slug}/validations/{result.id}",
    summary="Validate a version: the judge proves that each of its submissions gets the right verdict",
    status_code=202,
    responses=located_response(202, "validation", "Queued. Follow it at the address in the Location header"),
)
async def validate_package(
    response: Response, user: Instructor, slug: str, body: VersionJSON, authoring: Provided[Authoring]
) -> ValidationJSON:
    validation = await authoring.validate(slug, body.version)
    response.headers["Location"] = f"/api/v1/problems/{validation.slug}/validations/{validation.id}"
    return ValidationJSON.of(validation)


@router.get("/problems/{slug}/validations/{validation_id}", summary="One validation and its steps so far")
async def get_validation(
    user: Instructor, slug: str, validation_id: str, authoring: Provided[Authoring]
) -> ValidationJSON:
    return ValidationJSON.of(await authoring.validations.get(slug, validation_id))


@actions.post(
    "/problems/{slug}/publish",
    form="/authoring/{slug}/publish",
    then="/authoring/{slug}?published=1",
    summary="Publish a version; earlier attempts keep theirs",
    responses=problem_responses(409),
)
async def publish_package(
    user: Instructor, slug: str, body: PublishJSON, authoring: Provided[Authoring]
) -> PublicationJSON:
    return PublicationJSON.of(await authoring.publish(user, slug, body.version, force=body.force))


@router.get("/problems/{slug}/versions", summary="Every stored version of a problem, newest first")
async def list_versions(
    user: Instructor,
    slug: str,
    authoring: Provided[Authoring],
    limit: Limit = 20,
    before: Annotated[str | None, Query(pattern="^[0-9a-f]{64}$", description="`next` of the previous page")] = None,
) -> VersionPage:
    versions = await authoring.history.versions(slug, Cursor(limit, before))
    return VersionPage(versions=versions, next=versions.next)


@router.get(
    "/problems/{slug}/versions/{version}",
    summary="The files of a stored version, as a zip that can be uploaded again",
    response_class=Response,
    responses={
        200: {
            "description": "The package, with problem.toml at the top; the same bytes each time",
            "content": {_ZIP: {"schema": {"type": "string", "format": "binary"}, "example": "PK…"}},
        },
    },
)
async def download_version(
    user: Instructor, slug: str, version: Annotated[str, Path(pattern="^[0-9a-f]{64}$")], authoring: Provided[Authoring]
) -> Response:
    data = await authoring.download(slug, version)
    return Response(data, media_type=_ZIP, headers={"Cache-Control": "private, no-store"})


@router.get(
    "/problems/{slug}/publications",
    summary="Which version was published when, by whom, and whether its validation had passed; newest first",
)
async def list_publications(
    user: Instructor, slug: str, authoring: Provided[Authoring], cursor: NewestFirst
) -> PublicationPage:
    publications = await authoring.history.publications(slug, cursor)
    return PublicationPage(publications=publications, next=publications.next)


@router.get(
    "/problems/{slug}/validations", summary="The validations of a problem's versions, newest first, without their steps"
)
async def list_validations(
    user: Instructor,
    slug: str,
    authoring: Provided[Authoring],
    cursor: NewestFirst,
    version: Annotated[str | None, Query(pattern="^[0-9a-f]{64}$", description="Only of this version")] = None,
) -> ValidationPage:
    validations = await authoring.validations.list(slug, cursor, version)
    return ValidationPage(validations=[ValidationSummaryJSON.of(each) for each in validations], next=validations.next)
