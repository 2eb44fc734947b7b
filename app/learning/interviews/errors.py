"""Why an interview is refused."""

from app.core.errors import Refused


class InterviewNotFound(Refused):
    status, slug, title = 404, "interview-not-found", "There is no such interview"


class InterviewOpen(Refused):
    status, slug, title = 409, "interview-open", "You have an open interview"


class InterviewOver(Refused):
    status, slug, title = 409, "interview-over", "The interview is over"


class LevelEmpty(Refused):
    status, slug, title = 409, "level-empty", "There is no problem of this level"
