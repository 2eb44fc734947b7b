"""The ids of rows: 32 random hexadecimal digits, so one id reveals nothing about another."""

import secrets


def new_id() -> str:
    return secrets.token_hex(16)


def is_id(text: str) -> bool:
    """Whether the text can be an id. No other text reaches the database: PostgreSQL refuses a NUL in a parameter."""
    return len(text) == 32 and text.isascii() and text.isalnum()
