"""Random secrets, and the hashes that are stored instead of them."""

import hashlib
import secrets


def new_token() -> str:
    return secrets.token_urlsafe(32)


def digest(token: str) -> str:
    # No salt and no slow hash: tokens have 256 random bits (the operator chooses a preset one), and are found by it.
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
