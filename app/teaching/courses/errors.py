"""Why a request about courses is refused. See app/core/errors.py."""

from app.core.errors import Refused


class CourseNotFound(Refused):
    status, slug, title = 404, "course-not-found", "There is no such course"


class JoinCodeInvalid(Refused):
    status, slug, title = 404, "join-code-invalid", "No course has this join code"


class AssignmentInvalid(Refused):
    status, slug, title = 409, "assignment-invalid", "The assignment contradicts itself"


class NoAttemptsLeft(Refused):
    status, slug, title = 403, "no-attempts-left", "No attempts are left"


class CoolDown(Refused):
    status, slug, title = 429, "cool-down", "The next attempt has to wait"


class AnnouncementNotFound(Refused):
    status, slug, title = 404, "announcement-not-found", "There is no such announcement"


class RosterInvalid(Refused):
    status, slug, title = 409, "roster-invalid", "The roster cannot be imported"


class TimeZoneNotFound(Refused):
    status, slug, title = 404, "time-zone-not-found", "There is no such time zone"
