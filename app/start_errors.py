"""The commands' branch of the error tree: what keeps a server or a command from starting, and what a server refused.

MeshgradeError (grader/errors.py)
├── StartRefused                 a server or a command does not start: `remedy` says what to do; the command line
│   └── …Unusable, NotLoggedIn   prints both
└── ServerRefused                what a server answered to a command, retold
"""

from grader.errors import MeshgradeError


class StartRefused(MeshgradeError):
    """A server or a command does not start. The message says what is wrong and where, `remedy` what to do."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


class SettingInvalid(StartRefused):
    """A setting, from the environment or the command line, cannot be used."""

    def __init__(self, name: str, fault: str) -> None:
        super().__init__(
            f"the setting '{name}' cannot be used: {fault}.",
            f"Set MESHGRADE_{name.upper()} to a permitted value or unset it; docs/settings.md lists every setting.",
        )


class DataFolderUnusable(StartRefused):
    """The data folder cannot be created, written, or trusted."""


class DataFolderHeld(StartRefused):
    """Another server holds the data folder."""


class DatabaseUnusable(StartRefused):
    """The database is locked, from a newer version, or no database of ours."""


class AccountUnknown(StartRefused):
    """A command names an account that does not exist."""


class BackupUnusable(StartRefused):
    """A backup cannot be written, or the file is none that can be restored."""


class AddressUnusable(StartRefused):
    """The port or host cannot be listened on."""


class GradingImpossible(StartRefused):
    """A wall is missing on a machine that should only grade."""


class ServerAddressUnusable(StartRefused):
    """What was given is no address of a server, or a token must not travel there."""


class TokenFileUnusable(StartRefused):
    """The file in which the command line keeps tokens cannot be read or written."""


class NotLoggedIn(StartRefused):
    """A command needs an API token, and there is none for this server, or one that it does not know."""


class ServerUnusable(StartRefused):
    """A server is down, cannot prove who it is, or fails: the exit status is that of a grader's fault."""


class ServerRefused(MeshgradeError):
    """A server refused what a command asked for, with a problem of this `slug`."""

    def __init__(self, message: str, slug: str) -> None:
        super().__init__(message)
        self.slug = slug
