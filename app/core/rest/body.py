"""Reads a body strictly: each way in which it can be wrong has its own error. Nearly all bodies are JSON.

app/core/rest/routing.py calls `read_json` for a route whose signature has a body.
"""

import json
from collections.abc import Mapping
from typing import Any, NoReturn, TypeVar

from fastapi import Request
from pydantic import BaseModel, ConfigDict, ValidationError

from app.core.errors import (
    BodyNotJSON,
    BodyNotUTF8,
    BodyTooLarge,
    ContentTypeNotJSON,
    FieldInvalid,
    FieldMissing,
    FieldRepeated,
    FieldUnknown,
)

M = TypeVar("M", bound=BaseModel)

# Far more than any body without a source needs. If a field is too long, its own error says more than the body's.
MAX_BYTES = 256 * 1024
_REFUSALS: dict[str, type[FieldMissing] | type[FieldUnknown]] = {
    "missing": FieldMissing,
    "extra_forbidden": FieldUnknown,
}


class RequestBody(BaseModel):
    """Strict: the type of a value is that of its field, and an unknown field is an error."""

    model_config = ConfigDict(strict=True, extra="forbid")


async def read_json(request: Request, model: type[M], *, max_bytes: int = MAX_BYTES) -> M:
    """Read at most `max_bytes`, parse and validate. Raises a `BodyRefused`."""
    _check_content_type(request)
    value = _parse(await read_body(request, max_bytes, "more than any valid one has"))
    try:
        return model.model_validate(value)
    except ValidationError as error:
        refuse_fields(error)


def _check_content_type(request: Request) -> None:
    content_type = request.headers.get("content-type", "")
    kind = content_type.split(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise ContentTypeNotJSON(
            f"Expected the header 'Content-Type: application/json', got {content_type[:80]!r}. "
            "With curl, add: -H 'Content-Type: application/json'."
        )


async def read_body(request: Request, max_bytes: int, why: str) -> bytes:
    """Read at most `max_bytes`. Raises `BodyTooLarge`, whose message contains `why`."""
    body = bytearray()
    # The header only serves to refuse early. What counts are the bytes that arrive.
    declared = request.headers.get("content-length", "0")
    if declared.isdecimal() and int(declared[:19]) > max_bytes:
        _refuse_size(max_bytes, why)
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_bytes:
            _refuse_size(max_bytes, why)
    return bytes(body)


def _refuse_size(max_bytes: int, why: str) -> NoReturn:
    raise BodyTooLarge(
        f"The body has more than {max_bytes} bytes, {why}.",
        # The rest of the body is not read.
        headers={"Connection": "close"},
    )


def _parse(body: bytes) -> Any:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BodyNotUTF8(
            f"Byte {error.start} (0x{body[error.start]:02x}) is not valid UTF-8. Save the file as UTF-8 and send that."
        ) from None
    try:
        return json.loads(
            text, object_pairs_hook=_without_repetition, parse_constant=_refuse_constant, parse_float=_number
        )
    except json.JSONDecodeError as error:
        raise BodyNotJSON(f"{error.msg} at line {error.lineno}, column {error.colno} of the body.") from None
    except RecursionError:
        raise BodyNotJSON("The body is nested too deeply.") from None
    except ValueError as error:  # a number with thousands of digits
        raise BodyNotJSON(str(error)[:200]) from None


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Python keeps the last of two equal keys, other readers the first, so it would be unclear what was graded.
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields:
            raise FieldRepeated(f"The field {name[:64]!r} appears more than once. Send it once.")
        fields[name] = value
    return fields


def _number(text: str) -> int | float:
    """A whole number is an integer in JSON Schema, however it is written: 7.0 is 7."""
    value = float(text)
    return int(value) if value.is_integer() else value


def _refuse_constant(name: str) -> NoReturn:
    raise BodyNotJSON(f"{name} is not JSON.")


def refuse_fields(error: ValidationError) -> NoReturn:
    """Raises the `BodyRefused` of the first fault, which lists all."""
    faults = error.errors(include_url=False, include_input=False)
    errors = [{"field": _path(fault["loc"]), "message": _message(fault)} for fault in faults[:20]]
    detail = "; ".join(f"{each['field']}: {each['message']}" for each in errors)
    raise _REFUSALS.get(faults[0]["type"], FieldInvalid)(f"{detail}.", errors=errors)


def _message(fault: Mapping[str, Any]) -> str:
    bounds = fault.get("ctx", {})
    match fault["type"]:
        case "int_type" | "int_parsing" | "int_parsing_size" | "int_from_float":
            return "must be a whole number"
        case "greater_than_equal":
            return f"must be at least {bounds['ge']}"
        case "less_than_equal":
            return f"must be at most {bounds['le']}"
        case "extra_forbidden":
            return "there is no such field"
        case "missing":
            return "is required"
        case "string_too_short":
            return f"must have at least {bounds['min_length']} character{'s' if bounds['min_length'] > 1 else ''}"
        case "string_too_long":
            return f"must have at most {bounds['max_length']:,} characters"
        case "too_short":
            return f"must have at least {bounds['min_length']} entr{'ies' if bounds['min_length'] > 1 else 'y'}"
        case "too_long":
            return f"must have at most {bounds['max_length']:,} entries"
        case "literal_error":
            return f"must be {bounds['expected']}".replace("'", "")
        case _:
            return str(fault["msg"])


def _path(location: tuple[int | str, ...]) -> str:
    return ".".join(str(step)[:64] for step in location) or "body"
