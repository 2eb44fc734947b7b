"""Secrets that the service draws, and what is stored of them."""

import hashlib
import secrets


def new_token() -> str:
    return secrets.token_urlsafe(32)


def new_id() -> str:
    return secrets.token_hex(16)


def digest(token: str) -> str:
    # No salt, no slow hash: tokens hold 256 bits of chance (a preset one is the operator's choice), and are looked up.
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def is_id(text: str) -> bool:
    """Whether it could be an id. Anything else never reaches the database: PostgreSQL refuses a NUL in a parameter."""
    return len(text) == 32 and text.isascii() and text.isalnum()
