"""The commands' branch of the error tree: why a server or a command does not start, and what a server refused.

MeshgradeError (grader/core/errors.py)
├── StartRefused                 a server or a command does not start; the command line prints the message and
│   └── …Unusable, NotLoggedIn   `remedy`, which says what to do
└── ServerRefused                a server refused the request of a command
"""

from grader.core.errors import MeshgradeError


class StartRefused(MeshgradeError):
    """A server or a command does not start. The message says what is wrong and where; `remedy` says what to do."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


class SettingInvalid(StartRefused):
    """Settings, from the environment or the command line, cannot be used. `faults` are their names and why."""

    def __init__(self, name: str, fault: str, *further: tuple[str, str]) -> None:
        self.faults = ((name, fault), *further)
        variables = dict.fromkeys(_variable(name) for name, _ in self.faults)
        super().__init__(
            "\n".join(
                f"the setting '{name}' cannot be used: {fault.removesuffix('.')}." for name, fault in self.faults
            ),
            f"Set {', '.join(variables)} to a permitted value or unset {'it' if len(variables) == 1 else 'them'}; "
            "docs/settings.md lists every setting.",
        )


def _variable(name: str) -> str:
    return name if name.isupper() else f"MESHGRADE_{name.upper()}"


class DataFolderUnusable(StartRefused):
    """The data folder cannot be created, written, or trusted."""


class DataFolderInUse(StartRefused):
    """Another server uses the data folder."""


class DatabaseUnusable(StartRefused):
    """The database is locked, comes from a newer version or from before the first release, or is another program's."""


class RightsMissing(DatabaseUnusable):
    """The database's user may not read or write what this process has to."""

    def __init__(self, database: str, fault: str) -> None:
        super().__init__(
            f"the user in MESHGRADE_DATABASE_URL lacks rights in the database {database}: {fault}.",
            "Type ./meshgrade migrate with the URL of the user that owns the tables. It also grants the roles of "
            "servers and workers what this version needs (docs/operating.md, Roles of the database).",
        )


class AccountUnknown(StartRefused):
    """A command names an account that does not exist."""


class BackupUnusable(StartRefused):
    """A backup cannot be written, or a file cannot be restored."""


class AddressUnusable(StartRefused):
    """The server cannot listen on this host or port."""


class GradingImpossible(StartRefused):
    """A wall is missing on a machine whose only purpose is to grade."""


class ServerAddressUnusable(StartRefused):
    """This is not the address of a server, or a token must not be sent to it."""


class TokenFileUnusable(StartRefused):
    """The command line cannot read or write the file with its tokens."""


class NotLoggedIn(StartRefused):
    """A command needs an API token, but there is none for this server, or the server does not know it."""


class ServerUnusable(StartRefused):
    """A server is down, cannot prove its identity, or fails. The exit status is that of a grader's fault."""


class ServerRefused(MeshgradeError):
    """A server refused the request of a command with a problem of this `slug`."""

    def __init__(self, message: str, slug: str) -> None:
        super().__init__(message)
        self.slug = slug
