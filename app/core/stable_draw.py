"""Draw one of several things for someone, without storing the draw."""

import hashlib
import hmac
from collections.abc import Sequence


def key_of(deployment_secret: bytes, purpose: str) -> bytes:
    """The key of all draws for one purpose."""
    return hmac.digest(deployment_secret, purpose.encode(), hashlib.sha256)


def drawn(key: bytes, who: str, choices: Sequence[str]) -> str:
    """The one of these that `who` gets, in whichever order they are given.

    Each choice has a number that nobody without the key can compute, and the largest wins. So a draw stays the same,
    all choices are drawn about equally often, and one that is added or removed moves only those to whom it matters.
    """
    return max(choices, key=lambda each: hmac.digest(key, f"{who} {each}".encode(), hashlib.sha256))
