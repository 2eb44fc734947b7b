"""What is wrong with a lesson is said with its place, and such a lesson is not shown."""

from dataclasses import replace

import pytest

from app.learning.lessons.errors import LessonNotFound
from app.learning.lessons.lesson import Figure, Misreading, Program, Question, SideNote, Step, Steps, Text
from app.learning.lessons.lesson_files import Lessons
from tests.app.learning.lessons.folders import CLAIMS, ORDER, SVG, TEXT, write_lesson

MORE_CLAIMS = CLAIMS | {"by_name": CLAIMS["by_name"] | {"more": {"value": 1, "unit": "", "what": "More."}}}


def faults(lessons: Lessons) -> str:
    (fault,) = lessons.faults
    assert lessons.all() == []
    return str(fault)


def test_a_lesson_is_read_in_parts_with_its_numbers(tmp_path):
    lessons = Lessons.load(write_lesson(tmp_path))
    assert lessons.faults == []
    (lesson,) = lessons.all()
    assert [type(part) for part in lesson.parts] == [Text, Figure, Program, Text, Misreading, *[Question] * 3]
    assert lesson.parts[0] == Text("One array of 4,096 bytes, or 4,096.\n\n## Its shape")
    assert lesson.parts[2:4] == (Program(1, lesson.blocks[0]), Text("It is `(2, 4)`."))
    assert lesson.parts[4] == Misreading(("1.2", "0.14"), '"It is flat."', "It is not.")
    texts = [part.text for part in lesson.parts if isinstance(part, Question)]
    assert texts == ["How large is it?", "Which **axis** is split?", "What is its spec?"]
    assert [(block.code, block.output) for block in lesson.blocks] == [("print((2, 4))\n", "(2, 4)\n")]
    assert lessons.get("first") is lesson


def test_an_aside_is_a_side_note(tmp_path):
    text = TEXT.replace(
        "::: misreading 1.2 0.14", "::: aside\nSee *add_one*.\n\nTwice.\n:::\n\n::: misreading 1.2 0.14"
    )
    (lesson,) = Lessons.load(write_lesson(tmp_path, text=text)).all()
    assert lesson.parts[4] == SideNote("See *add_one*.\n\nTwice.")


def test_minutes_are_counted_from_words_and_programs(tmp_path):
    (lesson,) = Lessons.load(write_lesson(tmp_path)).all()
    programs = lesson.blocks * 3
    for words, minutes in ((1, 4), (200, 4), (201, 5), (1000, 8)):
        code = "```python\n" + "x = 1\n" * 500 + "```\n"
        assert replace(lesson, markdown=code + "word " * words, blocks=programs).minutes == minutes


def test_a_folder_without_order_has_no_lessons(tmp_path):
    assert (Lessons.load(tmp_path).all(), Lessons.load(tmp_path).faults) == ([], [])


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (('claim("size") }}, or', 'claim("sizes") }}, or'), "names the claim 'sizes', which claims.json does not have"),
        (('claim("size") }}, or', 'bytes("size") }}, or'), 'write claim("…") or number("…")'),
        (('{{ claim("size") }}, or', "{{ size }}, or"), "has a {{ that does not begin a claim"),
        (("It is not.", "It has 12 rows."), "has the number 12, which is not a claim: measure it in claims.py"),
        (("It is `(2, 4)`", "It is `(2, 3)`"), "has `(2, 3)`, which is neither in a program of the lesson nor"),
        (("figures/array.svg", "figures/arrays.svg"), "shows figures/arrays.svg, which does not exist (did you mean"),
        (("![The array]", "![]"), "figures/array.svg has no caption"),
        (("![The array](figures/array.svg)\n", ""), "figures/array.svg is not shown"),
        (("::: question number", "::: quiz"), "has a box 'quiz'"),
        (("::: misreading 1.2 0.14", "::: misreading"), "needs the mistake's numbers, as 2.6 0.13"),
        (("::: misreading 1.2 0.14", "::: misreading 1.2, 0.14"), "needs the mistake's numbers, as 2.6 0.13"),
        (('flat."\n\nIt is not.', 'flat."'), "needs two paragraphs or more"),
        (("It is not.", "## Not"), "has a heading"),
        (("::: misreading 1.2 0.14", "::: aside\n:::\n\n::: misreading 1.2 0.14"), "needs a paragraph"),
        (("It is not.\n:::", "It is not."), "is not closed: end it with a line :::"),
        (("dimension is whole.\n:::", "It is."), "has '::: question spec', which means nothing"),
        (("::: question number", "::: question"), "the question that begins with 'How large is it?' needs its kind"),
        (("One array of", "# Its shape\n\nOne array of"), "two sections are called 'Its shape'"),
    ],
)
def test_a_fault_of_the_text_is_named(tmp_path, change, fault):
    assert change[0] in TEXT
    assert fault in faults(Lessons.load(write_lesson(tmp_path, text=TEXT.replace(*change, 1))))


STEPS = """::: steps
The array, **twice**

![Before: it is whole.](figures/array.svg)
![After that: it is split.](figures/array.svg)
:::"""
IN_STEPS = TEXT.replace("![The array](figures/array.svg)", STEPS)


def test_figures_may_be_steps(tmp_path):
    (lesson,) = Lessons.load(write_lesson(tmp_path, text=IN_STEPS)).all()
    captions = ("Before", "it is whole."), ("After that", "it is split.")
    steps = tuple(Step(name, Figure("array.svg", caption, SVG)) for name, caption in captions)
    assert lesson.parts[1] == Steps("The array, **twice**", steps)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (
            ("![Before: it", "![It"),
            "is whole.](figures/array.svg)': write ![Name: caption](figures/name.svg)",
        ),
        (
            ("whole.](figures/array.svg)", "whole.](figures/arrays.svg)"),
            "shows figures/arrays.svg, which does not exist",
        ),
        (
            ("![After that: it is split.](figures/array.svg)\n", ""),
            "the steps 'The array, **twice**' are 1: give two to 8",
        ),
        (("The array, **twice**\n\n", ""), "needs two paragraphs or more"),
        ((":::\n\n```python", "\n```python"), "is not closed"),
    ],
)
def test_a_fault_of_steps_is_named(tmp_path, change, fault):
    assert change[0] in IN_STEPS
    assert fault in faults(Lessons.load(write_lesson(tmp_path, text=IN_STEPS.replace(*change, 1))))


def test_a_claim_may_be_code_with_a_number(tmp_path):
    error = {"value": "ValueError: 3 is not 4", "unit": "", "what": "An error."}
    claims = {**CLAIMS, "by_name": CLAIMS["by_name"] | {"error": error}}
    text = TEXT.replace("It is not.", 'It raises `{{ claim("error") }}`.')
    (lesson,) = Lessons.load(write_lesson(tmp_path / "right", text=text, claims=claims)).all()
    assert "It raises `ValueError: 3 is not 4`." in lesson.markdown
    typed = Lessons.load(write_lesson(tmp_path / "typed", text=text + "\n`3 is not 4`\n", claims=claims))
    assert "has `3 is not 4`, which is neither" in faults(typed)


def test_a_name_may_end_in_a_number(tmp_path):
    text = TEXT.replace("It is not.", "ZeRO-1 and float32 are names, a minus is not: -5 and 3-6.")
    fault = faults(Lessons.load(write_lesson(tmp_path, text=text)))
    assert [each.split()[5] for each in fault.splitlines() if "has the number" in each] == ["5,", "3,", "6,"]


def test_a_claim_that_nothing_uses_is_named(tmp_path):
    assert "does not use the claim 'more' of claims.py" in faults(
        Lessons.load(write_lesson(tmp_path, claims=MORE_CLAIMS))
    )


@pytest.mark.parametrize(
    ("svg", "fault"),
    [
        (SVG.replace("<rect", "<script/><rect"), "has the element <script>"),
        (SVG.replace("<rect", '<rect style="fill:red"'), "has a style: use the classes of lessons.css"),
        (SVG.replace('<title id="t">Array</title>', ""), "has no <title> or no <desc>"),
    ],
)
def test_a_figure_that_a_page_must_not_contain_is_refused(tmp_path, svg, fault):
    assert fault in faults(Lessons.load(write_lesson(tmp_path, svg=svg)))


@pytest.mark.parametrize(
    ("order", "fault"),
    [
        (ORDER.replace('title = "First"', ""), "lessons.1.title: Field required"),
        (ORDER + ORDER, "the lesson 'first' is listed 2 times"),
        ("[[lessons", "it cannot be read"),
        (ORDER.replace('"first"', '"second"'), "lesson.md is missing"),
    ],
)
def test_faults_of_the_order(tmp_path, order, fault):
    assert fault in faults(Lessons.load(write_lesson(tmp_path, order=order)))


def test_claims_of_another_form_are_refused(tmp_path):
    assert "claims.json: by_name.size.unit: Field required" in faults(
        Lessons.load(write_lesson(tmp_path, claims=CLAIMS | {"by_name": {"size": {"value": 1, "what": "It."}}}))
    )


def test_problems_that_are_not_served_are_named(tmp_path):
    lessons = Lessons.load(write_lesson(tmp_path, order=ORDER.replace("add_one", "add_on")))
    assert lessons.unknown_problems(["add_one"]) == [
        "lesson 'first': there is no problem 'add_on' (did you mean 'add_one'?)"
    ]
    assert lessons.unknown_problems(["add_on"]) == [
        "lesson 'first': there is no problem 'add_one' (did you mean 'add_on'?)"
    ]


def test_the_lessons_that_lead_to_problems_keep_their_order(tmp_path):
    (lesson,) = Lessons.load(write_lesson(tmp_path)).all()
    lessons = Lessons([lesson, replace(lesson, slug="second", problems=("add_two", "add_three"))])
    assert [each.slug for each in lessons.leading_to(["add_three", "add_one", "add_two"])] == ["first", "second"]
    assert [each.slug for each in lessons.leading_to(iter(["add_two"]))] == ["second"]
    assert lessons.leading_to(["add"]) == ()


def test_a_mistake_is_corrected_once(tmp_path):
    folder = write_lesson(tmp_path, order=ORDER + ORDER.replace('"first"', '"second"'))
    (folder / "first").rename(folder / "second")
    (folder / "first").mkdir()
    for name in ("lesson.md", "claims.json"):
        (folder / "first" / name).write_text((folder / "second" / name).read_text())
    (folder / "first" / "figures").mkdir()
    (folder / "first" / "figures" / "array.svg").write_text(SVG)
    assert [fault.faults for fault in Lessons.load(folder).faults] == [
        [f"the mistake {mistake} is corrected more than once: in first, second"] for mistake in ("1.2", "0.14")
    ]


def test_an_unknown_lesson_has_a_suggestion(tmp_path):
    with pytest.raises(LessonNotFound, match=r"no lesson 'first2' \(did you mean 'first'\?\)"):
        Lessons.load(write_lesson(tmp_path)).get("first2")


EXPLORE = """[[programs]]
program = 1
title = "Twice"
function = "twice"
mesh = "x=8"
inputs = 'x: float32[8] P("x")'
expected = []
"""
WITH_FUNCTION = TEXT.replace("print((2, 4))", "def twice(x):\n    return 2 * x\n\n\nprint((2, 4))")


def with_explore(folder, text):
    lessons = write_lesson(folder, text=WITH_FUNCTION)
    (lessons / "first" / "explore.toml").write_text(text)
    return Lessons.load(lessons)


def test_programs_that_the_explorer_opens_are_read(tmp_path):
    (lesson,) = with_explore(tmp_path, EXPLORE).all()
    (each,) = lesson.explorable
    assert (each.program, each.title, each.expected) == (1, "Twice", ())
    assert (each.function.name, each.function.mesh_text, each.function.inputs_text) == (
        "twice",
        "x=8",
        'x: float32[8] P("x")',
    )


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (("program = 1", "program = 2"), "explore.toml, program 2: the lesson has 1 programs"),
        (('function = "twice"', 'function = "thrice"'), "the program defines no function 'thrice'"),
        (("x=8", "x=3"), "explore.toml, program 1: x: dimension 0 has 8 elements, which x cannot split into 3"),
        (("expected = []", f"expected = []\n{EXPLORE}"), "explore.toml, program 1: listed twice"),
        (('title = "Twice"\n', ""), "explore.toml: programs.0.title: Field required"),
        (("[[programs]]", "[[programs]"), "explore.toml cannot be read"),
    ],
)
def test_a_fault_of_what_the_explorer_opens_is_named(tmp_path, change, fault):
    assert change[0] in EXPLORE
    assert fault in faults(with_explore(tmp_path, EXPLORE.replace(*change, 1)))
