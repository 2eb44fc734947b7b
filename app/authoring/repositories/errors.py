"""Why a request about repositories is refused. See app/core/errors.py."""

from app.core.errors import Refused
from grader.core.errors import MeshgradeError


class RepositoryNotFound(Refused):
    status, slug, title = 404, "repository-not-found", "There is no such repository"


class SyncNotFound(Refused):
    status, slug, title = 404, "sync-not-found", "There is no such sync"


class RepositoryRefused(Refused):
    status, slug, title = 409, "repository-refused", "The repository cannot be registered"


class TooManyRepositories(Refused):
    status, slug, title = 409, "too-many-repositories", "There are too many repositories"


class GitMissing(Refused):
    status, slug, title = 503, "git-missing", "The server has no usable git"


class HookRefused(Refused):
    status, slug, title = 403, "hook-refused", "The webhook is not authentic"


class SyncFailed(MeshgradeError):
    """A repository could not be read. The message is for instructors and contains no secret."""
