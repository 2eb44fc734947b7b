"""What REST takes from instructors and says to them about versions of a problem."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints

from app.problems.authoring import Publication, Upload
from app.problems.proofs import Proof, ProofStatus

EXAMPLE_VERSION = "3b9f4c0a7d2e5f8819c6d4b3a2f10e9d8c7b6a5948372615f0e1d2c3b4a59687"
_UPLOAD: dict[str, Any] = {"problem": "fsdp_step", "version": EXAMPLE_VERSION, "published": False}
_PUBLICATION: dict[str, Any] = {
    "problem": "fsdp_step",
    "version": EXAMPLE_VERSION,
    "checked": True,
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


class VersionJSON(BaseModel):
    """Which version: the `version` that its upload was answered with."""

    model_config = ConfigDict(
        strict=True, extra="forbid", json_schema_extra={"examples": [{"version": EXAMPLE_VERSION}]}
    )

    version: Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]


class UploadJSON(BaseModel):
    """A version that is kept. `published` says whether it is the one that is served."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_UPLOAD]})

    problem: str
    version: str
    published: bool

    @classmethod
    def of(cls, upload: Upload) -> "UploadJSON":
        return cls(problem=upload.slug, version=upload.version, published=upload.is_published)


class FindingJSON(BaseModel):
    """What was found of one file of the package; the message says what to do where it did not pass."""

    model_config = ConfigDict(extra="forbid")

    file: str
    passed: bool
    message: str


class PackageCheckJSON(BaseModel):
    """A check of a version. `passed` is null until it has ended; `total` is how many findings there will be."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_CHECK]})

    id: str
    problem: str
    version: str
    status: ProofStatus
    passed: bool | None
    total: int
    findings: list[FindingJSON]
    created_at: datetime
    finished_at: datetime | None

    @classmethod
    def of(cls, proof: Proof) -> "PackageCheckJSON":
        return cls(
            id=proof.id,
            problem=proof.slug,
            version=proof.version,
            status=proof.status,
            passed=proof.passed,
            total=proof.total,
            findings=[FindingJSON(file=each.file, passed=each.passed, message=each.message) for each in proof.findings],
            created_at=proof.created_at,
            finished_at=proof.finished_at,
        )


class PublicationJSON(BaseModel):
    """The version that is served. `checked`: whether its latest check passed; null without one, or while it goes on."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_PUBLICATION]})

    problem: str
    version: str
    checked: bool | None
    attempts_at_other_versions: int

    @classmethod
    def of(cls, publication: Publication) -> "PublicationJSON":
        return cls(
            problem=publication.slug,
            version=publication.version,
            checked=publication.checked,
            attempts_at_other_versions=publication.attempts,
        )
