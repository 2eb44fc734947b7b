"""Reads plain HTML forms without a multipart parser: all our forms are application/x-www-form-urlencoded."""

from urllib.parse import parse_qsl

from fastapi import Request

from app.core.errors import BodyRefused, BodyTooLarge

MAX_FIELDS = 48


class FormInvalid(BodyRefused):
    status, slug, title = 400, "form-invalid", "The form cannot be read"


async def read_unchecked_form(request: Request, *, max_bytes: int, max_fields: int = MAX_FIELDS) -> dict[str, str]:
    """Read the fields of a form, with the line ends of Python files.

    Actions calls it and then checks the token of the form. A message of another site has none.

    Raises:
      FormInvalid: wrong content type, not UTF-8, too many fields, or a repeated field.
      BodyTooLarge: larger than `max_bytes`.
    """
    content_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if content_type != "application/x-www-form-urlencoded":
        raise FormInvalid("This address expects a form. Send it from the page, or use the REST interface.")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_bytes:
            raise BodyTooLarge(f"The form is larger than {max_bytes} bytes.")
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=max_fields)
    except ValueError:  # also UnicodeDecodeError
        raise FormInvalid("The form could not be read because it is not UTF-8 or has too many fields.") from None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise FormInvalid("The form repeats a field.")
    return {name: value.replace("\r\n", "\n") for name, value in fields.items()}
