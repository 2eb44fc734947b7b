"""Why a request about courses is refused. See app/core/errors.py."""

from app.core.errors import Refused


class CourseNotFound(Refused):
    status, slug, title = 404, "course-not-found", "There is no such course"


class RightMissing(Refused):
    status, slug, title = 403, "right-missing", "You do not have this right in the course"


class CourseArchived(Refused):
    status, slug, title = 403, "course-archived", "The course is archived"


class CourseNotEmpty(Refused):
    status, slug, title = 409, "course-not-empty", "The course is not empty"


class LastInstructor(Refused):
    status, slug, title = 409, "last-instructor", "A course keeps one instructor"


class JoinCodeInvalid(Refused):
    status, slug, title = 404, "join-code-invalid", "No course has this join code"


class AssignmentInvalid(Refused):
    status, slug, title = 409, "assignment-invalid", "The assignment contradicts itself"


class CategoriesInvalid(Refused):
    status, slug, title = 409, "categories-invalid", "The categories cannot be changed so"


class CellRefused(Refused):
    status, slug, title = 409, "cell-refused", "This cannot be given now"


class NoAttemptsLeft(Refused):
    status, slug, title = 403, "no-attempts-left", "No attempts are left"


class ExamNotStarted(Refused):
    status, slug, title = 403, "exam-not-started", "You have not started this exam"


class ExamTimeOver(Refused):
    status, slug, title = 403, "exam-time-over", "Your time for this exam is over"


class ExamPasswordWrong(Refused):
    status, slug, title = 403, "exam-password-wrong", "This is not the password of the exam"


class AddressRefused(Refused):
    status, slug, title = 403, "address-refused", "This exam is not open from your network"


class NothingToStart(Refused):
    status, slug, title = 409, "nothing-to-start", "This assignment needs no start"


class CoolDown(Refused):
    status, slug, title = 429, "cool-down", "The next attempt has to wait"


class AnnouncementNotFound(Refused):
    status, slug, title = 404, "announcement-not-found", "There is no such announcement"


class RosterInvalid(Refused):
    status, slug, title = 409, "roster-invalid", "The roster cannot be imported"


class MailOff(Refused):
    status, slug, title = 409, "mail-off", "This service sends no mail"


class TimeZoneNotFound(Refused):
    status, slug, title = 404, "time-zone-not-found", "There is no such time zone"
