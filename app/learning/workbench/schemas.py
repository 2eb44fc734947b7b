"""REST bodies and responses for drafts, editorials and giving up."""

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field

from app.core.rest.body import RequestBody
from app.core.view import View


class SaveDraftJSON(RequestBody):
    """The text to save, and the revision that it is based on: 0 if nothing was saved yet."""

    # Only described here. app/grading/attempts/source_rules.py enforces it and says where in the source the fault is.
    source: str = Field(json_schema_extra={"pattern": r"^[^\u0000]*$"})
    revision: int = Field(ge=0, le=2**31 - 2)


class SourceToFormatJSON(RequestBody):
    """Python, of at most the size of a submission."""

    source: str = Field(json_schema_extra={"pattern": r"^[^\u0000]*$"})


class FormattedSourceJSON(View):
    """The source in ruff's style."""

    source: str


class EditorialJSON(View):
    """`editorial` is Markdown with TeX. `gave_up_at` is null unless you gave up on the problem."""

    problem: str
    editorial: str
    gave_up_at: datetime | None


def _require_true(value: bool) -> bool:
    if not value:
        raise ValueError("to give up on the problem, send true")
    return value


class GiveUpJSON(RequestBody):
    """Confirms that you give up on the problem, because nobody can undo it."""

    # Not Literal[True], which 1 would pass.
    confirm: Annotated[bool, AfterValidator(_require_true), Field(json_schema_extra={"const": True})]


class SurrenderJSON(View):
    """What you submit after `gave_up_at` is graded, but does not count."""

    problem: str
    gave_up_at: datetime
