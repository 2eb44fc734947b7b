"""REST bodies and responses for instructors, about versions of a problem."""

from datetime import datetime
from typing import Annotated

from pydantic import Field, StringConstraints

from app.core.rest.body import RequestBody
from app.core.view import View
from app.grading.queue.status import JobStatus
from app.problems.package_store import Origin

Slug = Annotated[str, Field(validation_alias="slug")]
Served = Annotated[bool, Field(validation_alias="is_published")]


class VersionJSON(RequestBody):
    """`version` is the one in the response to the upload."""

    version: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


class PublishJSON(VersionJSON):
    """The version to publish. `force` publishes it even if it has not passed validation, and stays on record."""

    force: bool = False


class UploadJSON(View):
    """A stored version. `published` says whether students see it."""

    problem: Slug
    version: str
    published: Served


class ValidationStepJSON(View):
    """One step of a validation, which proves one file of the package. If it did not pass, `message` says what to do."""

    file: str
    passed: bool
    message: str


class ValidationBase(View):
    """What a validation and its entry in a list have in common."""

    id: str
    problem: Slug
    version: str
    status: JobStatus
    passed: bool | None
    total: int
    created_at: datetime
    finished_at: datetime | None


class ValidationJSON(ValidationBase):
    """A validation of a version. `passed` is null until it has finished. There will be at most `total` steps."""

    steps: list[ValidationStepJSON]


class PublicationJSON(View):
    """The version that students see from now on.

    `validated` is whether its latest validation passed; null if none has finished. `forced` is true if it was published
    although none had passed.
    """

    problem: Slug
    version: str
    validated: bool | None
    forced: bool
    attempts_at_other_versions: Annotated[int, Field(validation_alias="attempts")]


class KeptVersionJSON(UploadJSON):
    """A stored version. `published` says whether students see it."""

    created_at: datetime


class VersionPage(View):
    """For the next page, send `next` as `before`. It is null on the last page."""

    versions: list[KeptVersionJSON]
    next: str | None


class PublicationRecordJSON(View):
    """One publication of a version. `user` is null if the account was deleted, or if the version came from the
    operator's problems folder (`origin` is then `folder`). `validated` and `forced` are as they were at that time.
    """

    id: str
    problem: Slug
    version: str
    origin: Origin
    user: str | None
    validated: bool | None
    forced: bool
    published_at: datetime


class PublicationPage(View):
    """For the next page, send `next` as `before`. It is null on the last page."""

    publications: list[PublicationRecordJSON]
    next: str | None


class ValidationSummaryJSON(ValidationBase):
    """A validation without its steps: `done` of the `total` steps have ended, and `faults` of those did not pass."""

    done: int
    faults: int


class ValidationPage(View):
    """For the next page, send `next` as `before`. It is null on the last page."""

    validations: list[ValidationSummaryJSON]
    next: str | None
