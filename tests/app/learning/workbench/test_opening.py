"""What a page shows first of a statement: its first paragraph, and the table of its arguments."""

import pytest

from app.core.web.markdown import render_markdown
from app.learning.workbench.opening import opening_of

TABLE = "| name | type |\n|---|---|\n| `x` | array |\n"


def opening(text):
    return opening_of(render_markdown(f"## Problem\n\n{text}").sections[0])


def test_the_table_of_arguments_follows_the_first_paragraph():
    found = opening(f"First.\n\nSecond.\n\n{TABLE}\nLast.\n")
    assert found.paragraph == "<p>First.</p>\n"
    assert found.table.startswith('<div class="wide" tabindex="0"><table>')
    assert found.table.endswith("</table></div>\n")
    assert found.rest == "<p>Second.</p>\n<p>Last.</p>\n"


@pytest.mark.parametrize(
    "text",
    [
        "First.\n\nSecond.\n",
        "First.\n\n| leaf | name |\n|---|---|\n| a | b |\n",
        "- an item\n\nFirst.\n",
        "",
    ],
)
def test_nothing_is_lost_without_such_a_table(text):
    found = opening(text)
    assert found.table == ""
    assert found.paragraph + found.rest == render_markdown(f"## Problem\n\n{text}").sections[0].body


def test_another_table_before_it_stays_where_it_is():
    found = opening(f"First.\n\n| leaf | spec |\n|---|---|\n| a | b |\n\n{TABLE}")
    assert "<th>name</th>" in found.table
    assert "<th>leaf</th>" in found.rest
