"""What a submission must be before it is stored: text that is neither empty nor too long."""

from typing import Annotated

from pydantic import Field

from app.core.errors import SourceEmpty, SourceHasNUL, SourceNotText, SourceTooLarge

# A field of a REST body. Its form is only described: `check_source` enforces it, and says where in it the fault is.
Source = Annotated[str, Field(json_schema_extra={"minLength": 1, "pattern": r"^[^\u0000]*[^\s\u0000][^\u0000]*$"})]


def check_source(source: str, max_bytes: int) -> None:
    """Raises a `SourceRefused` that says what is wrong and where."""
    check_text(source, max_bytes)
    if not source.removeprefix("\N{BYTE ORDER MARK}").strip():
        raise SourceEmpty("The source contains only whitespace. Send the text of your Python file.")


def check_text(source: str, max_bytes: int) -> None:
    """What a draft must be: text, and not too long. Raises a `SourceRefused`."""
    try:
        size = len(source.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise SourceNotText(
            f"Character {error.start + 1}{_line(source, error.start)} is half of a surrogate pair "
            f"(U+{ord(source[error.start]):04X}), which is not a character. Send the source as UTF-8."
        ) from None
    if size > max_bytes:
        raise SourceTooLarge(f"The source has {size} bytes of UTF-8. The limit is {max_bytes}.")
    if "\0" in source:
        raise SourceHasNUL(
            f"There is a NUL character{_line(source, source.index(chr(0)))}, which Python does not permit. Remove it."
        )


def _line(source: str, index: int) -> str:
    return f" on line {source.count(chr(10), 0, index) + 1}"
