"""TOML is read as the standard library reads it, except what takes it too long or makes unusable values."""

import tomllib
from pathlib import Path

import pytest

from grader.core.toml import LONGEST_WORD, MOST_DEPTH, MOST_PARTS, TomlInvalid, read_toml

ROOT = Path(__file__).parents[3]
FILES = [*ROOT.glob("problems/*/problem.toml"), *ROOT.glob("problems/*.toml"), *ROOT.glob("lessons/**/*.toml")]


def test_every_file_of_this_repository_is_read_alike() -> None:
    assert len(FILES) > 30
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        assert read_toml(text) == tomllib.loads(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("x = 1\na" + ".b" * MOST_PARTS + " = 1", f"a key has more than {MOST_PARTS} parts (at line 2)"),
        ("[" + '"b". ' * MOST_PARTS + "a]", f"a key has more than {MOST_PARTS} parts (at line 1)"),
        ("x = { a" + ".'b'" * MOST_PARTS + " = 1 }", f"a key has more than {MOST_PARTS} parts (at line 1)"),
        ("x = " + "[" * (MOST_DEPTH + 1), f"values are nested more than {MOST_DEPTH} deep (at line 1)"),
        ("x = " + "{a=" * (MOST_DEPTH + 1), f"values are nested more than {MOST_DEPTH} deep (at line 1)"),
        ("\n\nx = " + "1" * 5000, f"a number or key has more than {LONGEST_WORD} characters (at line 3)"),
        ("x = 0x" + "1" * 5000, f"a number or key has more than {LONGEST_WORD} characters (at line 1)"),
        ("x = ", "Invalid value (at end of document)"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, fault: str) -> None:
    with pytest.raises(TomlInvalid) as refused:
        read_toml(text)
    assert str(refused.value) == fault


@pytest.mark.parametrize(
    "text",
    [
        "x = '" + "a.b[{" * 500 + "'",
        'x = "' + 'a.\\"b[' * 500 + '"',
        'x = """' + "a.b[\n\\\\\"'" * 500 + '"""',
        "x = '''" + "a.b[\n\\\"''" * 500 + "'''",
        "# " + "a.b[{" * 500,
        "x = [" + "1.5, " * 500 + "]",
        "x = [" + "[1], " * 500 + "]",
        "x = [" + "1979-05-27T07:32:00.999, " * 500 + "]",
        "a" + ".b" * (MOST_PARTS - 1) + " = 1",
        "x = " + "[" * MOST_DEPTH + "]" * MOST_DEPTH,
        "x = " + "1" * LONGEST_WORD,
    ],
)
def test_what_only_looks_like_it_is_read(text: str) -> None:
    assert read_toml(text) == tomllib.loads(text)
