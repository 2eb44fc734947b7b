"""A text that names another problem names one that exists: pages turn `*slug*` into a link."""

import re
from pathlib import Path

import pytest

PROBLEMS = Path(__file__).parents[2] / "problems"
TEXTS = sorted(PROBLEMS.glob("*/*.md"))
# Emphasis of a word with an underscore: nothing but a slug looks like that, since code stands between backticks.
SLUG = re.compile(r"(?<![`*\w])\*([a-z0-9]+(?:_[a-z0-9]+)+)\*(?![`*\w])")


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_problem_that_a_text_names_exists(text: Path) -> None:
    named = set(SLUG.findall(text.read_text(encoding="utf-8")))
    assert {slug for slug in named if not (PROBLEMS / slug / "problem.toml").is_file()} == set()


def test_the_texts_do_name_problems() -> None:
    assert sum(len(SLUG.findall(text.read_text(encoding="utf-8"))) for text in TEXTS) > 20
