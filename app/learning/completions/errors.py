"""Why a completion is refused."""

from app.core.errors import Refused


class TrackNotFound(Refused):
    status, slug, title = 404, "track-not-found", "There is no such track"


class TrackNotComplete(Refused):
    status, slug, title = 409, "track-not-complete", "The track is not complete"


class CompletionNotFound(Refused):
    status, slug, title = 404, "completion-not-found", "There is no such shared completion"


class SiteUnnamed(Refused):
    status, slug, title = 409, "site-unnamed", "The service does not know its address"


class BadgeKeyNotFound(Refused):
    status, slug, title = 404, "badge-key-not-found", "There is no such key"
