"""Passwords: what one must be like, and its argon2 hash."""

import os
import secrets
import unicodedata

from anyio import CapacityLimiter, to_thread
from pwdlib import PasswordHash

from app.errors import PasswordRefused

_SHORTEST, _LONGEST = 10, 200
# Argon2 takes 64 MiB and all of a core each time: a class that signs in at once waits in line instead of swapping.
_AT_ONCE = max(1, len(os.sched_getaffinity(0)) // 2)


def check_password(password: str, name: str) -> None:
    """Raises `PasswordRefused` for one that would be guessed. Length counts most, so nothing else is demanded."""
    if not _SHORTEST <= len(password) <= _LONGEST:
        raise PasswordRefused(
            f"The password must have {_SHORTEST} to {_LONGEST} characters, and has {len(password)}. "
            "A few words do well."
        )
    if name.lower() in password.lower() and len(password) < len(name) + _SHORTEST:
        raise PasswordRefused("The password is little more than the name. Take one that the name does not give away.")
    if len(set(password)) < 4:
        raise PasswordRefused("The password repeats the same few characters. Take one that is harder to guess.")


class Passwords:
    """Hashes in threads. Never call it inside a transaction: SQLite's other writers would wait for argon2."""

    def __init__(self) -> None:
        self._argon2 = PasswordHash.recommended()
        self._limiter = CapacityLimiter(_AT_ONCE)
        # Compared with where there is no hash, so that a name that does not exist costs the same time as one that does.
        self._nobody: str | None = None

    async def hash(self, password: str) -> str:
        return await to_thread.run_sync(self._argon2.hash, _normal(password), limiter=self._limiter)

    async def verify(self, password: str, stored: str | None) -> bool:
        """Whether `password` is the one of the hash `stored`; never so where nothing is stored."""
        if self._nobody is None:
            self._nobody = await self.hash(secrets.token_urlsafe())
        right = await to_thread.run_sync(
            self._argon2.verify, _normal(password[: _LONGEST + 1]), stored or self._nobody, limiter=self._limiter
        )
        return right and stored is not None


def _normal(password: str) -> str:
    # One keyboard composes an accented letter, another sends letter and accent: https://www.rfc-editor.org/rfc/rfc8265
    return unicodedata.normalize("NFC", password)
