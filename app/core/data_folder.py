"""The data folder: private to its owner, used by one server at a time, and the place of the deployment secret."""

import contextlib
import fcntl
import os
import secrets
import stat
from pathlib import Path
from types import TracebackType

from app.core.stable_draw import key_of
from app.core.start_errors import DataFolderInUse, DataFolderUnusable

SECRET_BYTES = 32
# O_NOFOLLOW: a link planted in a shared parent folder must not make us write elsewhere.
_PRIVATE = os.O_CLOEXEC | os.O_NOFOLLOW


class DataFolder:
    """Locks `path` from construction until `close`, or until the process ends in any way.

    Args:
      locks: false in a further process of the server that has locked it.
      secret: the deployment secret for a folder that has none yet; random by default.
    Raises:
      DataFolderUnusable: the folder cannot be created or written, its secret is damaged, or its secret differs from the
        given one.
      DataFolderInUse: another server has locked it.
    """

    def __init__(self, path: Path, *, secret: bytes | None = None, locks: bool = True) -> None:
        self.path = path.absolute()
        try:
            self._create()
            self._lock = self._lock_folder() if locks else -1
        except OSError as error:
            raise DataFolderUnusable(
                f"the data folder {self.path} cannot be used: {error.strerror or error}.",
                "Set --data (or MESHGRADE_DATA) to a folder that this user can create and write to.",
            ) from error
        try:
            self.use_secret(self._read_or_create_secret(secret))
        except BaseException:
            self.close()
            raise

    def use_secret(self, deployment_secret: bytes) -> None:
        """Use this deployment secret, which several servers share, instead of the folder's own."""
        self.secret = deployment_secret
        self.judging_secret = judging_secret_of(deployment_secret)

    @property
    def cache(self) -> Path:
        """A private folder for data that can be computed again."""
        folder = self.path / "cache"
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    def close(self) -> None:
        """Release the lock. A second call does nothing."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> "DataFolder":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _create(self) -> None:
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if stat.S_IMODE(self.path.stat().st_mode) & 0o077:
            # It contains submissions, session hashes and the secret: close a folder that was created with a lax umask.
            self.path.chmod(0o700)

    def _lock_folder(self) -> int:
        descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | _PRIVATE, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 32).decode("ascii", "replace").strip() or "unknown"
            os.close(descriptor)
            raise DataFolderInUse(
                f"another Meshgrade server (pid {holder}) already uses the data folder {self.path}.",
                "Stop that server, or choose another folder for this one with --data DIR.",
            ) from None
        except BaseException:
            os.close(descriptor)
            raise
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode("ascii"))
        return descriptor

    def _read_or_create_secret(self, preset: bytes | None) -> bytes:
        path = self.path / "secret"
        try:
            if not os.path.lexists(path):
                self._create_secret(path, preset or secrets.token_bytes(SECRET_BYTES))
        except OSError as error:
            raise _unreadable(path, error) from error
        secret = read_secret(self.path)
        if preset is not None and secret != preset:
            raise DataFolderUnusable(
                f"the data folder {self.path} already has another deployment secret.",
                "Name a folder that does not exist yet: --data DIR.",
            )
        return secret

    def _create_secret(self, path: Path, secret: bytes) -> None:
        # Written to another file and then linked: a crash leaves the whole secret or none, never part of it.
        draft = path.with_name(f"secret.{secrets.token_hex(8)}")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _PRIVATE, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(secret)
                file.flush()
                os.fsync(file.fileno())
            with contextlib.suppress(FileExistsError):
                os.link(draft, path)
        finally:
            draft.unlink()


def judging_secret_of(deployment_secret: bytes) -> bytes:
    """The secret from which hidden inputs are derived. The deployment secret cannot be computed from it."""
    return key_of(deployment_secret, "judging")


def read_secret(folder: Path) -> bytes:
    """Read the deployment secret of a data folder. A server may use the folder at the same time.

    Raises:
      DataFolderUnusable: the secret cannot be read, or is damaged.
    """
    path = folder / "secret"
    try:
        descriptor = os.open(path, os.O_RDONLY | _PRIVATE)
    except OSError as error:
        raise _unreadable(path, error) from error
    with os.fdopen(descriptor, "rb") as file:
        os.fchmod(descriptor, 0o600)
        secret = file.read(SECRET_BYTES + 1)
    if len(secret) != SECRET_BYTES:
        raise DataFolderUnusable(
            f"the deployment secret {path} is damaged: expected {SECRET_BYTES} bytes, got {len(secret)} or more.",
            "Restore it from a backup. If you remove it instead, every problem gets new hidden cases.",
        )
    return secret


def _unreadable(path: Path, error: OSError) -> DataFolderUnusable:
    return DataFolderUnusable(
        f"the deployment secret {path} cannot be read: {error.strerror or error}.",
        "Give this user permission to read it, or restore it from a backup.",
    )
