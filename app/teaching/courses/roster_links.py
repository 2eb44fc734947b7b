"""The link for an invited person: it creates their account, and then asks them to join the course."""

from urllib.parse import quote

from fastapi import Request

from app.accounts.web import sign_up_link
from app.teaching.courses.service import Course


def invitation_link(request: Request, course: Course, invitation: str) -> str:
    """The join code waits in the form of the page to which the sign-up leads."""
    return f"{sign_up_link(request, invitation)}&next={quote(f'/courses?code={course.join_code}', safe='')}"
