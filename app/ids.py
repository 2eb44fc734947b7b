"""The ids of rows: 32 hexadecimal digits by chance, so that knowing one tells nothing of another."""

import secrets


def new_id() -> str:
    return secrets.token_hex(16)


def is_id(text: str) -> bool:
    """Whether it could be an id. Anything else never reaches the database: PostgreSQL refuses a NUL in a parameter."""
    return len(text) == 32 and text.isascii() and text.isalnum()
