"""REST bodies and responses for comments."""

from pydantic import Field

from app.accounts.text_rules import TEXT_PATTERN
from app.core.rest.body import RequestBody
from app.core.view import View
from app.grading.comments.service import LONGEST, Comment


class NewCommentJSON(RequestBody):
    """`line` counts from 1. `text` is plain text and may have several lines."""

    line: int = Field(ge=1, le=1_000_000)
    # The pattern is only described here. app/accounts/text_rules.py enforces it and says what is wrong.
    text: str = Field(min_length=1, max_length=LONGEST, json_schema_extra={"pattern": TEXT_PATTERN})


class ResolvedJSON(RequestBody):
    """Whether the comment is resolved."""

    resolved: bool


class CommentList(View):
    """By line, the oldest first. An attempt has at most a hundred."""

    comments: list[Comment]
