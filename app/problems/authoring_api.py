"""REST for instructors: upload versions of a problem."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from app.accounts.caller import User
from app.accounts.web import require_role
from app.body import read_body
from app.errors import ContentTypeNotZip
from app.problem_json import problem_responses
from app.problems.authoring import Authoring
from app.problems.authoring_schemas import UploadJSON
from app.problems.zipped import MAX_ZIP_BYTES

router = APIRouter(tags=["authoring"])
Instructor = Annotated[User, Depends(require_role("instructor"))]
_ZIP = "application/zip"
_ZIP_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": f"The files of the package, problem.toml at the top; at most {MAX_ZIP_BYTES >> 20} MiB",
        "content": {_ZIP: {"schema": {"type": "string", "format": "binary"}}},
    }
}


def _authoring(request: Request) -> Authoring:
    authoring: Authoring = request.app.state.authoring
    return authoring


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
