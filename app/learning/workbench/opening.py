"""The beginning of a statement: its first paragraph, the table of its arguments, and the rest of the section.

The page shows a drawing below the first paragraph and the table below the drawing, wherever the author wrote it.
"""

from dataclasses import dataclass

from markupsafe import Markup

from app.core.web.markdown import TABLE_BEGINS, TABLE_ENDS, Section

_OF_ARGUMENTS = "<th>name</th>"


@dataclass(frozen=True, slots=True)
class Opening:
    """`table` is empty if no table of the section begins with the column `name`."""

    paragraph: Markup
    table: Markup
    rest: Markup


def opening_of(section: Section) -> Opening:
    body = str(section.body)
    is_first = body.lstrip().startswith("<p>")
    paragraph, end, rest = body.partition("</p>\n") if is_first else ("", "", body)
    begins = _table_of_arguments(rest)
    if begins < 0:
        return Opening(Markup(paragraph + end), Markup(), Markup(rest))
    ends = rest.index(TABLE_ENDS, begins) + len(TABLE_ENDS)
    return Opening(Markup(paragraph + end), Markup(rest[begins:ends]), Markup(rest[:begins] + rest[ends:]))


def _table_of_arguments(text: str) -> int:
    """Where the table begins; negative without one."""
    cell = text.find(_OF_ARGUMENTS)
    begins = text.rfind(TABLE_BEGINS, 0, cell) if cell >= 0 else -1
    # The first heading of that table, and not a later one.
    return begins if begins >= 0 and text.find("<th>", begins) == cell else -1
