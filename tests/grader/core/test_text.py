"""Numbers and text as a verdict shows them: what a submission prints cannot act on the page or deceive its reader."""

from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pytest

from grader.core.strict_model import SafeText, StrictModel
from grader.core.text import in_bytes, plain_text
from grader.explorer.script import Printed
from grader.verdicts.evidence import Facts, FailedCase
from grader.verdicts.verdict import CheckResult, Verdict


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0 B"),
        (0.5, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1024 * 136.2, "136 KiB"),
        (1.5 * 2**20, "1.5 MiB"),
        (1020 * 2**20, "1,020 MiB"),
        (2**30, "1 GiB"),
        (2.25 * 2**40, "2.25 TiB"),
        (5000 * 2**40, "5,000 TiB"),
    ],
)
def test_bytes_have_three_digits_and_a_unit_that_fits(number: float, text: str) -> None:
    assert in_bytes(number) == text


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


def bare_texts(kind: Any, where: str) -> Iterator[str]:
    """The places in a type that take any text, as it is."""
    if kind == SafeText:
        return
    if kind in (str, object):
        yield where
    if isinstance(kind, type) and issubclass(kind, StrictModel):
        for name, hint in get_type_hints(kind, include_extras=True).items():
            if name in kind.model_fields:
                yield from bare_texts(hint, f"{kind.__name__}.{name}")
    elif get_origin(kind) is Annotated:
        yield from bare_texts(get_args(kind)[0], where)
    else:
        for each in get_args(kind):
            yield from bare_texts(each, where)


def test_every_text_of_a_verdict_is_made_safe_where_it_enters() -> None:
    # The runner tells its environment before it has read a submission; one page shows it, as plain text.
    assert set(bare_texts(Verdict, "")) == {"Verdict.environment"}
    assert set(bare_texts(Printed, "")) == set()


def test_texts_of_a_check_its_evidence_and_their_names_are_safe() -> None:
    evil = "\x1b]0;title\x07\x1b[31mred\u202e"
    failed = FailedCase(case="public-1", inputs={evil: evil})
    facts = Facts(about=evil, values={evil: evil})
    check = CheckResult(
        id="values",
        title=evil,
        passed=False,
        points=0,
        max_points=1,
        trust="verified",
        message=evil,
        evidence=[failed, facts],
    )
    stored = check.model_dump_json()
    assert "red⟨U+202E⟩" in stored
    assert "\\u001b" not in stored
    assert CheckResult.model_validate_json(stored) == check
