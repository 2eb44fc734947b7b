"""What REST takes from instructors and says to them about versions of a problem."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from app.problems.authoring import Upload

_VERSION = "3b9f4c0a7d2e5f8819c6d4b3a2f10e9d8c7b6a5948372615f0e1d2c3b4a59687"
_UPLOAD: dict[str, Any] = {"problem": "fsdp_step", "version": _VERSION, "published": False}


class UploadJSON(BaseModel):
    """A version that is kept. `published` says whether it is the one that is served."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_UPLOAD]})

    problem: str
    version: str
    published: bool

    @classmethod
    def of(cls, upload: Upload) -> "UploadJSON":
        return cls(problem=upload.slug, version=upload.version, published=upload.is_published)
