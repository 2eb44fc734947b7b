"""Tables as files: CSV and xlsx, which a spreadsheet shows and does not run."""

import io
from collections.abc import Sequence

from starlette.responses import Response

_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
# Widths of columns, in characters.
_NARROWEST, _WIDEST = 8, 40


def xlsx_of(head: Sequence[str], rows: Sequence[Sequence[object]], name: str) -> bytes:
    """A workbook with one sheet, whose first row and first column stay in sight. Text is text, even after `=`."""
    # It takes 12 MB, and few servers write a sheet.
    import xlsxwriter

    file = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(file, options) as book:
        sheet = book.add_worksheet(name)
        bold = book.add_format({"bold": True, "text_wrap": True, "valign": "top"})
        for column, text in enumerate(head):
            sheet.write_string(0, column, text, bold)
            sheet.set_column(column, column, min(max(len(text) / 2, _NARROWEST), _WIDEST))
        for number, row in enumerate(rows, 1):
            for column, value in enumerate(row):
                if isinstance(value, int | float):
                    sheet.write_number(number, column, value)
                elif value is not None:
                    sheet.write_string(number, column, str(value))
        sheet.freeze_panes(1, 1)
    return file.getvalue()


def xlsx_download(name: str, head: Sequence[str], rows: Sequence[Sequence[object]], sheet: str) -> Response:
    """A response that a browser saves under this name, and that no cache stores."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(xlsx_of(head, rows, sheet), media_type=_XLSX, headers=headers)
