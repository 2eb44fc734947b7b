"""Reads fields of the forms about assignments."""

from app.core.errors import FieldInvalid


def number_in(form: dict[str, str], field: str, allowed: str) -> int | None:
    """The number in a field that may be empty. Raises `FieldInvalid`."""
    text = form.get(field, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) <= 6):
        raise FieldInvalid(f"{field}: give {allowed}, or nothing.")
    return int(text)
