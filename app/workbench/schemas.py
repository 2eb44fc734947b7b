"""REST bodies and responses for drafts, editorials and giving up."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

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


class EditorialJSON(BaseModel):
    """`editorial` is Markdown with TeX. `gave_up_at` is null unless you gave up the problem."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"problem": "fsdp_step", "editorial": "## Why\n…", "gave_up_at": None}]},
    )

    problem: str
    editorial: str
    gave_up_at: datetime | None


def _require_true(value: bool) -> bool:
    if not value:
        raise ValueError("to give up the problem, send true")
    return value


class GiveUpJSON(BaseModel):
    """Confirms that you give up the problem, because nobody can undo it."""

    model_config = ConfigDict(strict=True, extra="forbid", json_schema_extra={"examples": [{"confirm": True}]})

    # Not Literal[True], which 1 would pass.
    confirm: Annotated[bool, AfterValidator(_require_true), Field(json_schema_extra={"const": True})]


class SurrenderJSON(BaseModel):
    """What you submit after `gave_up_at` is graded, but does not count."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"problem": "fsdp_step", "gave_up_at": "2026-01-05T09:30:00.000000Z"}]},
    )

    problem: str
    gave_up_at: datetime
