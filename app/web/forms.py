"""Plain HTML forms, read without a multipart parser: every form of ours is application/x-www-form-urlencoded."""

from urllib.parse import parse_qsl

from fastapi import Request

from app.errors import BodyRefused, BodyTooLarge


class FormInvalid(BodyRefused):
    status, slug, title = 400, "form-invalid", "The form cannot be read"


async def read_form(request: Request, *, max_bytes: int) -> dict[str, str]:
    """Read a form's fields, with line ends as Python files have them.

    Raises:
      FormInvalid: wrong content type, not UTF-8, or a field that comes twice.
      BodyTooLarge: larger than `max_bytes`.
    """
    content_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if content_type != "application/x-www-form-urlencoded":
        raise FormInvalid("This address takes a form. Send it from the page, or use the REST interface.")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > max_bytes:
            raise BodyTooLarge(f"The form is larger than {max_bytes} bytes.")
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=16)
    except ValueError:  # UnicodeDecodeError is one, too
        raise FormInvalid("The form could not be read: it is not UTF-8 text, or it has too many fields.") from None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise FormInvalid("The form names a field twice.")
    return {name: value.replace("\r\n", "\n") for name, value in fields.items()}
