"""Read a body strictly: each way in which it can be wrong has an error of its own. Nearly all are JSON."""

import json
from typing import Any, NoReturn, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError

from app.errors import (
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

# Far more than anything but a source needs: of a field that is too long, its own error says more than that of the body.
_MAX_BYTES = 256 * 1024
_REFUSALS: dict[str, type[FieldMissing] | type[FieldUnknown]] = {
    "missing": FieldMissing,
    "extra_forbidden": FieldUnknown,
}


def body_of(model: type[BaseModel]) -> dict[str, Any]:
    """OpenAPI's description of a body that `read_json` reads: FastAPI does not see it, so it cannot describe it."""
    schema = model.model_json_schema()
    # In the document a reference would begin at its root, where these definitions are not.
    schema = _inlined(schema, schema.pop("$defs", {}))
    content = {"application/json": {"schema": schema, "example": schema["examples"][0]}}
    return {"requestBody": {"required": True, "content": content}}


def _inlined(schema: Any, definitions: dict[str, Any]) -> Any:
    """`schema` with each reference to one of `definitions` replaced by it; none of ours holds itself."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            return _inlined(definitions[schema["$ref"].removeprefix("#/$defs/")], definitions)
        return {name: _inlined(value, definitions) for name, value in schema.items()}
    return [_inlined(each, definitions) for each in schema] if isinstance(schema, list) else schema


async def read_json(request: Request, model: type[M], *, max_bytes: int = _MAX_BYTES) -> M:
    """Read at most `max_bytes`, parse and validate. Raises a `BodyRefused`."""
    _check_content_type(request)
    value = _parse(await read_body(request, max_bytes, "more than any that is valid here"))
    try:
        return model.model_validate(value)
    except ValidationError as error:
        _refuse_fields(error)


def _check_content_type(request: Request) -> None:
    given = request.headers.get("content-type", "")
    kind = given.split(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise ContentTypeNotJSON(
            f"Expected the header 'Content-Type: application/json', got {given[:80]!r}. "
            "With curl, add: -H 'Content-Type: application/json'."
        )


async def read_body(request: Request, max_bytes: int, why: str) -> bytes:
    """Read at most `max_bytes`. Raises `BodyTooLarge`, whose message says `why` so many."""
    body = bytearray()
    # The header is believed only to refuse early; what counts is what arrives.
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
        # The rest of the body is still on its way and will not be read.
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
        return json.loads(text, object_pairs_hook=_without_repetition, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise BodyNotJSON(f"{error.msg} at line {error.lineno}, column {error.colno} of the body.") from None
    except RecursionError:
        raise BodyNotJSON("The body is nested too deeply.") from None
    except ValueError as error:  # a number with thousands of digits
        raise BodyNotJSON(str(error)[:200]) from None


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Python keeps the last of two equal keys, other readers the first: nobody could say what was graded.
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise FieldRepeated(f"The field {name[:64]!r} is given twice; send it once.")
        found[name] = value
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise BodyNotJSON(f"{name} is not JSON.")


def _refuse_fields(error: ValidationError) -> NoReturn:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    errors = [{"field": _path(fault["loc"]), "message": fault["msg"]} for fault in faults[:20]]
    detail = "; ".join(f"{each['field']}: {each['message']}" for each in errors)
    raise _REFUSALS.get(faults[0]["type"], FieldInvalid)(f"{detail}.", errors=errors)


def _path(location: tuple[int | str, ...]) -> str:
    return ".".join(str(step)[:64] for step in location) or "body"
