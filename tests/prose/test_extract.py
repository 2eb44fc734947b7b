"""The parts of a Python file or a template that are read as prose, and their lines."""

import pytest

from tests.prose.extract import prose_of_python, prose_of_template
from tests.prose.lint import find

PYTHON = [
    '"""Whoever solves it."""\n',
    "# whoever solves it\n",
    'x = f"{name}: whoever solves it"\n',
    'raise ValueError(\n    "anyone, or "\n    "whoever solves it"\n)\n',
    "x = 1  # a number, whoever reads it\n",
]
SPLIT = ['say("The body is "\n    "no JSON")\n', "# The body is\n# no JSON\n", '"""The body is\nno JSON."""\n']
NOT_PROSE = ["whoever = 1\n", 'x = "whoever"\n', "x = whoever  # noqa: F821 whoever\n", 'x = f"a {whoever} b"\n']
TEMPLATES = [
    "<p>Whoever solves it.</p>",
    "<p><strong>Whoever</strong> solves it.</p>",
    '{{ field("name", "For whoever solves it") }}',
    "{# for whoever reads on #}",
]
NOT_TEXT = [
    '<p class="whoever">x</p>',
    "{{ whoever }}",
    "{% if whoever is none %}x{% endif %}",
    "<code>whoever</code>",
]


@pytest.mark.parametrize("source", PYTHON)
def test_texts_and_comments_of_python_are_read_on_their_line(source: str) -> None:
    (finding,) = find(prose_of_python(source))
    assert "whoever" in source.splitlines()[finding.line - 1].lower()


@pytest.mark.parametrize("source", SPLIT)
def test_a_sentence_is_read_across_strings_and_lines(source: str) -> None:
    assert [finding.found for finding in find(prose_of_python(source))] == ["is no JSON"]


@pytest.mark.parametrize("source", NOT_PROSE)
def test_code_is_not_read(source: str) -> None:
    assert find(prose_of_python(source)) == []


def test_two_strings_that_are_apart_are_two_texts() -> None:
    assert find(prose_of_python('a, b = "The body is ", "no JSON "\n')) == []


@pytest.mark.parametrize("source", TEMPLATES)
def test_texts_of_a_template_are_read(source: str) -> None:
    assert len(find(prose_of_template(source))) == 1


@pytest.mark.parametrize("source", NOT_TEXT)
def test_markup_and_expressions_are_not_read(source: str) -> None:
    assert find(prose_of_template(source)) == []


@pytest.mark.parametrize("source", [*PYTHON, *SPLIT, *NOT_PROSE])
def test_lines_stay_where_they_are(source: str) -> None:
    shown = prose_of_python(source)
    assert [len(line) for line in shown.splitlines()] == [len(line) for line in source.splitlines()]
