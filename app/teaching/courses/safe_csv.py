"""CSV that a spreadsheet shows and does not run: a cell that would begin a formula gets an apostrophe in front."""

import csv
import io
from collections.abc import Iterable

from starlette.responses import Response

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_of(rows: Iterable[Iterable[object]]) -> str:
    """With a byte order mark, without which a spreadsheet takes UTF-8 for something else."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    for row in rows:
        writer.writerow([_harmless(each) for each in row])
    return "\ufeff" + text.getvalue()


def csv_download(name: str, rows: Iterable[Iterable[object]]) -> Response:
    """A response that a browser saves under this name, and that no cache stores."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(csv_of(rows), media_type="text/csv; charset=utf-8", headers=headers)


def _harmless(value: object) -> object:
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return "" if value is None else value
