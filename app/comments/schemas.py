"""REST bodies and responses for comments."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from app.accounts.text import TEXT_PATTERN
from app.comments.service import LONGEST, Comment

_COMMENT: dict[str, Any] = {
    "id": "2d1c0b9a8f7e6d5c4b3a29181706f5e4",
    "line": 12,
    "text": "Divide by the number of devices here.",
    "author": "tess",
    "created_at": "2026-01-05T09:30:00.000000Z",
    "resolved_at": None,
}


class NewCommentJSON(BaseModel):
    """`line` counts from 1. `text` is plain text and may have several lines."""

    model_config = ConfigDict(
        strict=True, extra="forbid", json_schema_extra={"examples": [{"line": 12, "text": _COMMENT["text"]}]}
    )

    line: int = Field(ge=1, le=1_000_000)
    # The pattern is only described here. app/accounts/text.py enforces it and says what is wrong.
    text: str = Field(min_length=1, max_length=LONGEST, json_schema_extra={"pattern": TEXT_PATTERN})


class ResolvedJSON(BaseModel):
    """Whether the comment is resolved."""

    model_config = ConfigDict(strict=True, extra="forbid", json_schema_extra={"examples": [{"resolved": True}]})

    resolved: bool


class CommentJSON(BaseModel):
    """A comment on a line. `author` is null once the account is deleted. `resolved_at` is null while it is open."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_COMMENT]})

    id: str
    line: int
    text: str
    author: str | None
    created_at: datetime
    resolved_at: datetime | None

    @classmethod
    def of(cls, comment: Comment) -> "CommentJSON":
        return cls(**{name: getattr(comment, name) for name in cls.model_fields})


class CommentList(BaseModel):
    """By line, the oldest first. An attempt has at most a hundred."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"comments": [_COMMENT]}]})

    comments: list[CommentJSON]
