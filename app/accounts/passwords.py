"""Passwords: their requirements, and their argon2 hashes."""

import os
import secrets
import unicodedata

from anyio import CapacityLimiter, to_thread
from pwdlib import PasswordHash

from app.accounts.errors import PasswordRefused

_SHORTEST, _LONGEST = 10, 200
# Each argon2 hash takes 64 MiB and a whole core: a class that signs in at once waits in line instead of swapping.
_AT_ONCE = max(1, len(os.sched_getaffinity(0)) // 2)


def check_password(password: str, name: str) -> None:
    """Raises `PasswordRefused` if it is easy to guess. Length matters most, so no character classes are required."""
    if not _SHORTEST <= len(password) <= _LONGEST:
        raise PasswordRefused(
            f"The password must have {_SHORTEST} to {_LONGEST} characters, but has {len(password)}. "
            "A short phrase works well."
        )
    if name.lower() in password.lower() and len(password) < len(name) + _SHORTEST:
        raise PasswordRefused("The password is too similar to the name. Choose one that is harder to guess.")
    if len(set(password)) < 4:
        raise PasswordRefused("The password repeats the same few characters. Choose one that is harder to guess.")


class Passwords:
    """Hashes passwords in threads. Never call it inside a transaction: SQLite's other writers would wait for argon2."""

    def __init__(self) -> None:
        self._argon2 = PasswordHash.recommended()
        self._limiter = CapacityLimiter(_AT_ONCE)
        # Stands in for a missing hash, so that an unknown name takes as long as a known one.
        self._nobody: str | None = None

    async def hash(self, password: str) -> str:
        return await to_thread.run_sync(self._argon2.hash, _normal(password), limiter=self._limiter)

    async def verify(self, password: str, stored: str | None) -> bool:
        """Whether `password` matches the hash `stored`. Without a stored hash, no password does."""
        if self._nobody is None:
            self._nobody = await self.hash(secrets.token_urlsafe())
        right = await to_thread.run_sync(
            self._argon2.verify, _normal(password[: _LONGEST + 1]), stored or self._nobody, limiter=self._limiter
        )
        return right and stored is not None


def _normal(password: str) -> str:
    # One keyboard composes an accented letter, another sends letter and accent: https://www.rfc-editor.org/rfc/rfc8265
    return unicodedata.normalize("NFC", password)
