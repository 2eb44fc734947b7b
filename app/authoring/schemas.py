"""REST bodies and responses for instructors, about versions of a problem."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from app.authoring.validations import ValidationStatus
from app.problems.store import Origin

EXAMPLE_VERSION = "3b9f4c0a7d2e5f8819c6d4b3a2f10e9d8c7b6a5948372615f0e1d2c3b4a59687"
_UPLOAD: dict[str, Any] = {"problem": "fsdp_step", "version": EXAMPLE_VERSION, "published": False}
_PUBLICATION: dict[str, Any] = {
    "problem": "fsdp_step",
    "version": EXAMPLE_VERSION,
    "validated": True,
    "checked": True,
    "forced": False,
    "attempts_at_other_versions": 412,
}
EXAMPLE_VALIDATION: dict[str, Any] = {
    "id": "5e8d3c2b1a0f9e8d7c0b8f6e1d9b7a4f",
    "problem": "fsdp_step",
    "version": EXAMPLE_VERSION,
    "status": "running",
    "passed": None,
    "total": 19,
    "steps": [
        {
            "file": "submissions/rejected/wrong_value/half_of_it.py",
            "passed": False,
            "message": "It must be rejected (wrong_value), but it is accepted.",
        }
    ],
    "created_at": "2026-01-05T09:30:00.000000Z",
    "finished_at": None,
}
_VERSION: dict[str, Any] = {
    "problem": "fsdp_step",
    "version": EXAMPLE_VERSION,
    "published": True,
    "created_at": "2026-01-05T09:12:00.000000Z",
}
_RECORD: dict[str, Any] = {
    "id": "2d1f0a9c8b5f0c8e0e2f6b4d1c9a7e3b",
    "problem": "fsdp_step",
    "version": EXAMPLE_VERSION,
    "origin": "upload",
    "user": "grace",
    "validated": True,
    "checked": True,
    "forced": False,
    "published_at": "2026-01-05T09:45:00.000000Z",
}
EXAMPLE_VALIDATION_SUMMARY: dict[str, Any] = {
    **{name: value for name, value in EXAMPLE_VALIDATION.items() if name != "steps"},
    "done": 1,
    "faults": 1,
}


Slug = Annotated[str, Field(validation_alias="slug")]
Served = Annotated[bool, Field(validation_alias="is_published")]


class View(BaseModel):
    """Part of a response, read from what the service returns.

    Only the fields that are named here are read: a new part may be secret, and must not be published automatically.
    """

    model_config = ConfigDict(extra="forbid", from_attributes=True)

    @classmethod
    def of(cls, view: object) -> Self:
        return cls.model_validate(view)


class VersionJSON(BaseModel):
    """`version` is the one in the response to the upload."""

    model_config = ConfigDict(
        strict=True, extra="forbid", json_schema_extra={"examples": [{"version": EXAMPLE_VERSION}]}
    )

    version: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


class PublishJSON(VersionJSON):
    """The version to publish. `force` publishes it even if it has not passed validation, and stays on record."""

    model_config = ConfigDict(
        strict=True, extra="forbid", json_schema_extra={"examples": [{"version": EXAMPLE_VERSION, "force": False}]}
    )

    force: bool = False


class UploadJSON(View):
    """A stored version. `published` says whether students see it."""

    model_config = ConfigDict(json_schema_extra={"examples": [_UPLOAD]})

    problem: Slug
    version: str
    published: Served


class ValidationStepJSON(View):
    """One step of a validation, which proves one file of the package. If it did not pass, `message` says what to do."""

    file: str
    passed: bool
    message: str


class ValidationBase(View):
    """What a validation and its line in a list both tell."""

    id: str
    problem: Slug
    version: str
    status: ValidationStatus
    passed: bool | None
    total: int
    created_at: datetime
    finished_at: datetime | None


class ValidationJSON(ValidationBase):
    """A validation of a version. `passed` is null until it has finished. There will be at most `total` steps."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_VALIDATION]})

    steps: list[ValidationStepJSON]


class PublicationJSON(View):
    """The version that students see from now on.

    `validated` is whether its latest validation passed; null if none has finished. `forced` is true if it was published
    although none had passed. `checked` is deprecated and equals `validated`.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [_PUBLICATION]})

    problem: Slug
    version: str
    validated: bool | None
    checked: Annotated[bool | None, Field(validation_alias="validated", deprecated=True)]
    forced: bool
    attempts_at_other_versions: Annotated[int, Field(validation_alias="attempts")]


class KeptVersionJSON(UploadJSON):
    """A stored version. `published` says whether students see it."""

    model_config = ConfigDict(json_schema_extra={"examples": [_VERSION]})

    created_at: datetime


class VersionPage(BaseModel):
    """For the next page, send `next` as `before`. It is null on the last page."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"versions": [_VERSION], "next": None}]})

    versions: list[KeptVersionJSON]
    next: str | None


class PublicationRecordJSON(View):
    """One publication of a version. `user` is null if the account was deleted, or if the version came from the
    operator's problems folder (`origin` is then `folder`). `validated` and `forced` are as they were at that time.
    `checked` is deprecated and equals `validated`.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [_RECORD]})

    id: str
    problem: Slug
    version: str
    origin: Origin
    user: str | None
    validated: bool | None
    checked: Annotated[bool | None, Field(validation_alias="validated", deprecated=True)]
    forced: bool
    published_at: datetime


class PublicationPage(BaseModel):
    """For the next page, send `next` as `before`. It is null on the last page."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"publications": [_RECORD], "next": None}]}
    )

    publications: list[PublicationRecordJSON]
    next: str | None


class ValidationSummaryJSON(ValidationBase):
    """A validation without its steps: `done` of the `total` steps have ended, and `faults` of those did not pass."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE_VALIDATION_SUMMARY]})

    done: int
    faults: int


class ValidationPage(BaseModel):
    """For the next page, send `next` as `before`. It is null on the last page."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"validations": [EXAMPLE_VALIDATION_SUMMARY], "next": None}]}
    )

    validations: list[ValidationSummaryJSON]
    next: str | None
