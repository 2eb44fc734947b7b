"""REST for instructors: upload versions of a problem, validate them, and publish one."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response

from app.accounts.caller import User
from app.accounts.web import require_role
from app.authoring.schemas import (
    KeptVersionJSON,
    PublicationJSON,
    PublicationPage,
    PublicationRecordJSON,
    PublishJSON,
    UploadJSON,
    ValidationJSON,
    ValidationPage,
    ValidationSummaryJSON,
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
Before = Annotated[str | None, Query(pattern="^[0-9a-f]{32}$", description="`next` of the previous page")]
QUEUED: dict[int | str, dict[str, Any]] = {
    202: {
        "description": "Queued. Follow it at the address in the Location header",
        "headers": {"Location": {"schema": {"type": "string"}, "description": "Address of the validation"}},
    },
    **problem_responses(400, 401, 403, 404, 413, 415, 422, 503),
}
_ZIP = "application/zip"
_ZIP_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": f"The files of the package, with problem.toml at the top. At most {MAX_ZIP_BYTES >> 20} MiB.",
        "content": {_ZIP: {"schema": {"type": "string", "format": "binary"}}},
    }
}


def _authoring(request: Request) -> Authoring:
    return services_of(request, AuthoringServices).authoring


@router.put(
    "/problems/{slug}",
    summary="Upload a version of a problem's package, without publishing it",
    status_code=201,
    responses={
        200: {"description": "This version was already stored", "model": UploadJSON},
        **problem_responses(400, 401, 403, 409, 413, 415, 422),
    },
    openapi_extra=_ZIP_BODY,
)
async def upload_package(request: Request, response: Response, user: Instructor, slug: str) -> UploadJSON:
    content_type = request.headers.get("content-type", "")
    if content_type.split(";")[0].strip().lower() != _ZIP:
        raise ContentTypeNotZip(
            f"Expected the header 'Content-Type: {_ZIP}', got {content_type[:80]!r}. "
            f"With curl: curl -T package.zip -H 'Content-Type: {_ZIP}' …"
        )
    data = await read_body(request, MAX_ZIP_BYTES, "which is too much for a zipped package")
    upload = await _authoring(request).upload(user, slug, data)
    response.status_code = 201 if upload.is_new else 200
    return UploadJSON.of(upload)


@router.post(
    "/problems/{slug}/validations",
    summary="Validate a version: the judge proves that each of its submissions gets its verdict",
    status_code=202,
    responses=QUEUED,
    openapi_extra=body_of(VersionJSON),
)
async def validate_package(request: Request, response: Response, user: Instructor, slug: str) -> ValidationJSON:
    body = await read_json(request, VersionJSON)
    validation = await _authoring(request).validate(slug, body.version)
    response.headers["Location"] = f"/api/v1/problems/{validation.slug}/validations/{validation.id}"
    return ValidationJSON.of(validation)


@router.get(
    "/problems/{slug}/validations/{validation_id}",
    summary="One validation and its steps so far",
    responses=problem_responses(401, 403, 404),
)
async def get_validation(request: Request, user: Instructor, slug: str, validation_id: str) -> ValidationJSON:
    return ValidationJSON.of(await _authoring(request).validations.get(slug, validation_id))


@router.post(
    "/problems/{slug}/publish",
    summary="Publish a version; earlier attempts keep theirs",
    responses=problem_responses(400, 401, 403, 404, 409, 413, 415, 422),
    openapi_extra=body_of(PublishJSON),
)
async def publish_package(request: Request, user: Instructor, slug: str) -> PublicationJSON:
    body = await read_json(request, PublishJSON)
    return PublicationJSON.of(await _authoring(request).publish(user, slug, body.version, force=body.force))


@router.get(
    "/problems/{slug}/versions",
    summary="Every stored version of a problem, newest first",
    responses=problem_responses(401, 403, 404, 422),
)
async def list_versions(
    request: Request,
    user: Instructor,
    slug: str,
    limit: Limit = 20,
    before: Annotated[str | None, Query(pattern="^[0-9a-f]{64}$", description="`next` of the previous page")] = None,
) -> VersionPage:
    versions = await _authoring(request).history.versions(slug, limit + 1, before)
    return VersionPage(
        versions=[KeptVersionJSON.of(each) for each in versions[:limit]],
        next=versions[limit - 1].version if len(versions) > limit else None,
    )


@router.get(
    "/problems/{slug}/versions/{version}",
    summary="The files of a stored version, as a zip that can be uploaded again",
    response_class=Response,
    responses={
        200: {
            "description": "The package, with problem.toml at the top; the same bytes each time",
            "content": {_ZIP: {"schema": {"type": "string", "format": "binary"}, "example": "PK…"}},
        },
        **problem_responses(401, 403, 404, 422),
    },
)
async def download_version(
    request: Request, user: Instructor, slug: str, version: Annotated[str, Path(pattern="^[0-9a-f]{64}$")]
) -> Response:
    data = await _authoring(request).download(slug, version)
    return Response(data, media_type=_ZIP, headers={"Cache-Control": "private, no-store"})


@router.get(
    "/problems/{slug}/publications",
    summary="Which version was published when, by whom, and whether its validation had passed; newest first",
    responses=problem_responses(401, 403, 404, 422),
)
async def list_publications(
    request: Request, user: Instructor, slug: str, limit: Limit = 20, before: Before = None
) -> PublicationPage:
    publications = await _authoring(request).history.publications(slug, limit + 1, before)
    return PublicationPage(
        publications=[PublicationRecordJSON.of(each) for each in publications[:limit]],
        next=publications[limit - 1].id if len(publications) > limit else None,
    )


@router.get(
    "/problems/{slug}/validations",
    summary="The validations of a problem's versions, newest first, without their steps",
    responses=problem_responses(401, 403, 404, 422),
)
async def list_validations(
    request: Request,
    user: Instructor,
    slug: str,
    version: Annotated[str | None, Query(pattern="^[0-9a-f]{64}$", description="Only of this version")] = None,
    limit: Limit = 20,
    before: Before = None,
) -> ValidationPage:
    validations = await _authoring(request).validations.list(slug, version, limit + 1, before)
    return ValidationPage(
        validations=[ValidationSummaryJSON.of(each) for each in validations[:limit]],
        next=validations[limit - 1].id if len(validations) > limit else None,
    )
