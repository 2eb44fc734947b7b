"""What the routes of comments need."""

from dataclasses import dataclass

from app.accounts.services import AccountServices
from app.comments.service import Comments


@dataclass(frozen=True, kw_only=True)
class CommentServices(AccountServices):
    comments: Comments
