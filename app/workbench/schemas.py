"""REST bodies and responses for drafts."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from app.attempts.schemas import EXAMPLE_SOURCE
from app.workbench.drafts import Draft

EXAMPLE_DRAFT: dict[str, Any] = {
    "problem": "fsdp_step",
    "source": EXAMPLE_SOURCE,
    "revision": 7,
    "saved_at": "2026-01-05T09:30:00.000000Z",
}


class SaveDraftJSON(BaseModel):
    """The text to save, and the revision that it is based on: 0 if nothing was saved yet."""

    model_config = ConfigDict(
        strict=True, extra="forbid", json_schema_extra={"examples": [{"source": EXAMPLE_SOURCE, "revision": 6}]}
    )

    # Only described here. app/attempts/source.py enforces it and says where in the source the fault is.
    source: str = Field(json_schema_extra={"pattern": r"^[^\u0000]*$"})
    revision: int = Field(ge=0, le=2**31 - 2)


class DraftJSON(BaseModel):
    """Your draft at a problem. Before the first save, `revision` is 0, and `source` and `saved_at` are null."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [EXAMPLE_DRAFT]})

    problem: str
    source: str | None
    revision: int
    saved_at: datetime | None

    @classmethod
    def of(cls, draft: Draft) -> "DraftJSON":
        return cls(problem=draft.problem, source=draft.source, revision=draft.revision, saved_at=draft.saved_at)
