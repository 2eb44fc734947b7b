"""Secrets that the service draws, and what is stored of them."""

import hashlib
import secrets


def new_token() -> str:
    return secrets.token_urlsafe(32)


def digest(token: str) -> str:
    # No salt, no slow hash: tokens hold 256 bits of chance (a preset one is the operator's choice), and are looked up.
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
