"""REST bodies and responses for reported faults."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from app.workbench.reports import FaultReport

_REPORT: dict[str, Any] = {
    "id": "7e6d1c0b9a8f5e4d3c2b1a0f9e8d7c6b",
    "problem": "fsdp_step",
    "version": "3b9f4c0a7d2e5f8819c6d4b3a2f10e9d8c7b6a5948372615f0e1d2c3b4a59687",
    "user": "ada",
    "text": "Hint 2 names a function that does not exist.",
    "created_at": "2026-01-05T09:30:00.000000Z",
    "done_at": None,
}


class ReportDoneJSON(BaseModel):
    """Whether the report is done."""

    model_config = ConfigDict(strict=True, extra="forbid", json_schema_extra={"examples": [{"done": True}]})

    done: bool


class ReportJSON(BaseModel):
    """A fault that `user` reported in a version of a problem. `done_at` is null while it is open."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_REPORT]})

    id: str
    problem: str
    version: str
    user: str
    text: str
    created_at: datetime
    done_at: datetime | None

    @classmethod
    def of(cls, report: FaultReport) -> "ReportJSON":
        return cls(
            id=report.id,
            problem=report.problem,
            version=report.version,
            user=report.name,
            text=report.text,
            created_at=report.created_at,
            done_at=report.done_at,
        )


class ReportPage(BaseModel):
    """For the next page, send `next` as `before`. It is null on the last page."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"reports": [_REPORT], "next": None}]})

    reports: list[ReportJSON]
    next: str | None
