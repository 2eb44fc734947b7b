"""Why a request about a rejudge is refused. See app/core/errors.py."""

from app.core.errors import Refused


class RejudgeNotFound(Refused):
    status, slug, title = 404, "rejudge-not-found", "There is no such rejudge"


class RejudgeUnderWay(Refused):
    status, slug, title = 409, "rejudge-under-way", "Another rejudge of this problem is in progress"


class RejudgeNotFinished(Refused):
    status, slug, title = 409, "rejudge-not-finished", "The rejudge is not finished"


class RejudgeCancelled(Refused):
    status, slug, title = 409, "rejudge-cancelled", "The rejudge was cancelled"


class RejudgeApplied(Refused):
    status, slug, title = 409, "rejudge-applied", "The rejudge was already applied"


class SelectionInvalid(Refused):
    status, slug, title = 409, "rejudge-selection-invalid", "No attempt can match this selection"


class VersionNotServed(Refused):
    status, slug, title = 409, "version-not-served", "Another version is published"
