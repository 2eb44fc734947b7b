"""What a submission prints cannot act on the page or deceive its reader."""

import pytest

from app.web.terminal import plain_text


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;https://a.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b", "␛"),
        ("a\r\nb\tc\n", "a\nb\tc\n"),
        ("10%\r20%", "10%␍20%"),
        ("\x00\x07\x7f", "␀␇␡"),
        ("\x9b31m", "⟨U+009B⟩31m"),
        ("\u202egnihtemos", "⟨U+202E⟩gnihtemos"),
        ("\u2066x\u2069", "⟨U+2066⟩x⟨U+2069⟩"),
        ("\ud800", "⟨U+D800⟩"),
        ("naïve 日本 ✓", "naïve 日本 ✓"),
    ],
)
def test_controls_are_dropped_or_made_visible(printed: str, shown: str) -> None:
    assert plain_text(printed) == shown
