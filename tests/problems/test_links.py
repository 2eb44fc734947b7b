"""A text that names another problem names one that exists: pages turn `*slug*` into a link."""

import re
from pathlib import Path

import pytest

from tests.grader.shipped_submissions import slugs

PROBLEMS = Path(__file__).parents[2] / "problems"
TEXTS = sorted(PROBLEMS.glob("*/*.md"))
# Emphasis of a word with an underscore: nothing but a slug looks like that, since code stands between backticks.
SLUG = re.compile(r"(?<![`*\w])\*([a-z0-9]+(?:_[a-z0-9]+)+)\*(?![`*\w])")


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_problem_that_a_text_names_exists(text: Path) -> None:
    named = set(SLUG.findall(text.read_text(encoding="utf-8")))
    assert {slug for slug in named if not (PROBLEMS / slug / "problem.toml").is_file()} == set()


def test_a_name_between_asterisks_is_a_slug_and_code_is_not() -> None:
    assert SLUG.findall("Before *fsdp_auto_step* and *dp_step*, not `*a_b*`, **c_d** or *word*.") == [
        "fsdp_auto_step",
        "dp_step",
    ]


@pytest.mark.parametrize("slug", slugs("program"))
def test_a_statement_with_a_mesh_leads_to_what_auto_axes_are(slug: str) -> None:
    """`jax.make_mesh` gives Explicit axes, and students know it from elsewhere. On one device, axes do not matter."""
    if "meshes = [{ device = 1 }]" in (PROBLEMS / slug / "problem.toml").read_text(encoding="utf-8"):
        return
    text = (PROBLEMS / slug / "statement.md").read_text(encoding="utf-8")
    assert "Auto" in text
    assert "(/lessons/meshes-and-specs#s-auto-or-explicit-axes)" in text


LESSON = re.compile(r"\]\(/lessons/([a-z0-9-]+)(?:#s-([a-z0-9-]+))?\)")


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_lesson_that_a_text_links_exists(text: Path) -> None:
    for lesson, heading in LESSON.findall(text.read_text(encoding="utf-8")):
        page = (PROBLEMS.with_name("lessons") / lesson / "lesson.md").read_text(encoding="utf-8")
        headings = re.findall(r"^## (.*)$", page, re.MULTILINE)
        assert not heading or heading in [re.sub(r"[^a-z0-9]+", "-", each.lower()).strip("-") for each in headings]
