"""Names that people give to their things: any single line, in any script."""

import pytest

from app.accounts.text_rules import check_line
from app.core.errors import FieldInvalid


@pytest.mark.parametrize("text", ["laptop", " laptop ", "Ünïcode 🎓", "日本語", "a" * 100])
def test_a_line_is_taken(text):
    assert check_line("name", text, 100) == text.strip()


@pytest.mark.parametrize("text", ["", " ", "a" * 101, "a\nb", "a\0b", "a\x9bb", "a\u2028b", "a\u202eb", "a\ud800b"])
def test_what_is_no_line_is_refused(text):
    with pytest.raises(FieldInvalid, match="one line"):
        check_line("name", text, 100)


def test_a_note_may_be_empty():
    assert check_line("note", "  ", 100, empty=True) == ""
