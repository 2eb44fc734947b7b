"""Why a request about learning platforms is refused. See app/core/errors.py."""

from app.core.errors import Refused


class LaunchRefused(Refused):
    status, slug, title = 403, "launch-refused", "The launch was refused"


class LaunchNotFound(Refused):
    status, slug, title = 404, "launch-not-found", "This launch is no longer valid"


class RegistrationRefused(Refused):
    status, slug, title = 403, "registration-refused", "The learning platform was not registered"


class PlatformNotFound(Refused):
    status, slug, title = 404, "platform-not-found", "There is no such learning platform"


class PlatformTaken(Refused):
    status, slug, title = 409, "platform-taken", "The learning platform is already registered"


class PlatformFailed(Refused):
    status, slug, title = 502, "platform-failed", "The learning platform failed"
