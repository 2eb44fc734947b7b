"""What REST takes from instructors and says to them about versions of a problem."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from app.authoring.proofs import ProofStatus
from app.problems.store import Origin

EXAMPLE_VERSION = "3b9f4c0a7d2e5f8819c6d4b3a2f10e9d8c7b6a5948372615f0e1d2c3b4a59687"
_UPLOAD: dict[str, Any] = {"problem": "fsdp_step", "version": EXAMPLE_VERSION, "published": False}
_PUBLICATION: dict[str, Any] = {
    "problem": "fsdp_step",
    "version": EXAMPLE_VERSION,
    "checked": True,
    "forced": False,
    "attempts_at_other_versions": 412,
}
_CHECK: dict[str, Any] = {
    "id": "5e8d3c2b1a0f9e8d7c0b8f6e1d9b7a4f",
    "problem": "fsdp_step",
    "version": EXAMPLE_VERSION,
    "status": "running",
    "passed": None,
    "total": 19,
    "findings": [
        {
            "file": "submissions/rejected/wrong_value/half_of_it.py",
            "passed": False,
            "message": "It must be rejected (wrong_value) and is accepted.",
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
    "checked": True,
    "forced": False,
    "published_at": "2026-01-05T09:45:00.000000Z",
}
_CHECK_SUMMARY: dict[str, Any] = {
    **{name: value for name, value in _CHECK.items() if name != "findings"},
    "found": 1,
    "faults": 1,
}


Slug = Annotated[str, Field(validation_alias="slug")]
Served = Annotated[bool, Field(validation_alias="is_published")]


class _View(BaseModel):
    """Part of an answer, read from what the service returns.

    Only the fields that are named here are read: a new part of that, perhaps secret, is not published by itself.
    """

    model_config = ConfigDict(extra="forbid", from_attributes=True)

    @classmethod
    def of(cls, view: object) -> Self:
        return cls.model_validate(view)


class VersionJSON(BaseModel):
    """Which version: the `version` that its upload was answered with."""

    model_config = ConfigDict(
        strict=True, extra="forbid", json_schema_extra={"examples": [{"version": EXAMPLE_VERSION}]}
    )

    version: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


class PublishJSON(VersionJSON):
    """Which version. `force` publishes it although no check of it has passed; this is kept for others to see."""

    model_config = ConfigDict(
        strict=True, extra="forbid", json_schema_extra={"examples": [{"version": EXAMPLE_VERSION, "force": False}]}
    )

    force: bool = False


class UploadJSON(_View):
    """A version that is kept. `published` says whether it is the one that is served."""

    model_config = ConfigDict(json_schema_extra={"examples": [_UPLOAD]})

    problem: Slug
    version: str
    published: Served


class FindingJSON(_View):
    """What was found of one file of the package; the message says what to do where it did not pass."""

    file: str
    passed: bool
    message: str


class PackageCheckJSON(_View):
    """A check of a version. `passed` is null until it has ended; `total` is how many findings there will be."""

    model_config = ConfigDict(json_schema_extra={"examples": [_CHECK]})

    id: str
    problem: Slug
    version: str
    status: ProofStatus
    passed: bool | None
    total: int
    findings: list[FindingJSON]
    created_at: datetime
    finished_at: datetime | None


class PublicationJSON(_View):
    """The version that is served. `checked`: whether its latest check passed; null where none has ended.

    `forced`: it was published although none had passed.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [_PUBLICATION]})

    problem: Slug
    version: str
    checked: bool | None
    forced: bool
    attempts_at_other_versions: Annotated[int, Field(validation_alias="attempts")]


class KeptVersionJSON(UploadJSON):
    """A version that is kept. `published` says whether it is the one that is served."""

    model_config = ConfigDict(json_schema_extra={"examples": [_VERSION]})

    created_at: datetime


class VersionPage(BaseModel):
    """`next` is what to send as `before` for the page after this one; null on the last page."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"versions": [_VERSION], "next": None}]})

    versions: list[KeptVersionJSON]
    next: str | None


class PublicationRecordJSON(_View):
    """That a version was published. `user` is null for what the operator put into the problems folder (`origin` is
    `folder`), and where the account was deleted. `checked` and `forced` are as they were at that time.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [_RECORD]})

    id: str
    problem: Slug
    version: str
    origin: Origin
    user: str | None
    checked: bool | None
    forced: bool
    published_at: datetime


class PublicationPage(BaseModel):
    """`next` is what to send as `before` for the page after this one; null on the last page."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"publications": [_RECORD], "next": None}]}
    )

    publications: list[PublicationRecordJSON]
    next: str | None


class PackageCheckSummaryJSON(_View):
    """A check without its findings: `found` of `total` are there, `faults` of them did not pass."""

    model_config = ConfigDict(json_schema_extra={"examples": [_CHECK_SUMMARY]})

    id: str
    problem: Slug
    version: str
    status: ProofStatus
    passed: bool | None
    total: int
    found: int
    faults: int
    created_at: datetime
    finished_at: datetime | None


class PackageCheckPage(BaseModel):
    """`next` is what to send as `before` for the page after this one; null on the last page."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"checks": [_CHECK_SUMMARY], "next": None}]}
    )

    checks: list[PackageCheckSummaryJSON]
    next: str | None
