"""A lesson is read without a script, with the keyboard, on a phone and on paper."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from app.learning.lessons.lesson_files import Lessons
from tests.browser.accessibility import violations, violations_of_colour
from tests.browser.workbench import VERDICT_TIMEOUT_MS, OpenPage
from tests.lessons.shipped_lessons import LESSONS

LESSON = "/lessons/meshes-and-specs"
# The service of these tests has `psum_scatter_mean`, to which this lesson leads.
WITH_A_SERVED_PROBLEM = "/lessons/four-collectives"
ANSWERS = "Show the answer"


def test_a_guest_reads_a_lesson_without_a_script_and_without_a_mouse(open_page: OpenPage) -> None:
    page = open_page("/lessons", anonymous=True, java_script_enabled=False)
    page.get_by_role("link", name="Meshes and specs").press("Enter")
    expect(page).to_have_url(f"{page.url.split('/lessons')[0]}{LESSON}")
    first = page.locator(".question").first
    expect(first.get_by_text("cuts out its own block")).to_be_hidden()
    first.get_by_text(ANSWERS).press("Enter")
    expect(first.get_by_text("cuts out its own block")).to_be_visible()


def test_a_guest_answers_the_questions_without_a_script_and_without_a_mouse(open_page: OpenPage) -> None:
    page = open_page(LESSON, anonymous=True, java_script_enabled=False)
    first = page.get_by_role("region", name="Question 1")
    first.get_by_label("Your answer").fill("1")
    first.get_by_label("Your answer").press("Enter")
    expect(first.get_by_role("status")).to_contain_text("This is not the right answer.")
    expect(first).to_be_in_viewport()
    first.get_by_label("Your answer").fill("0")
    first.get_by_role("button", name="Check").press("Enter")
    expect(first.get_by_role("status")).to_have_text("That is right.")
    expect(first.get_by_text("cuts out its own block")).to_be_visible()
    third = page.get_by_role("region", name="Question 3")
    third.get_by_label("Your answer").fill("P('data')")
    third.get_by_label("Your answer").press("Enter")
    for each in (first, third):
        expect(each.get_by_role("status")).to_have_text("That is right.")


def test_a_choice_is_answered_with_the_keyboard(open_page: OpenPage) -> None:
    page = open_page(WITH_A_SERVED_PROBLEM, anonymous=True, java_script_enabled=False)
    second = page.get_by_role("region", name="Question 2")
    second.get_by_label("all_gather").press("ArrowDown")
    expect(second.get_by_label("all_reduce")).to_be_checked()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(second.get_by_role("status")).to_have_text("That is right.")
    expect(second.get_by_role("radio", name="reduce_scatter")).to_be_checked()


def test_a_lesson_leads_to_a_problem_without_a_script_and_without_a_mouse(open_page: OpenPage) -> None:
    page = open_page(WITH_A_SERVED_PROBLEM, anonymous=True, java_script_enabled=False)
    page.get_by_role("region", name="Now solve").get_by_role("link").first.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert "/problems/" in page.url


def test_figures_follow_the_theme_and_side_notes_are_shown(open_page: OpenPage) -> None:
    page = open_page(LESSON)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        colours = page.evaluate(
            "[getComputedStyle(document.body).color, getComputedStyle(document.querySelector('.drawn text.mono')).fill]"
        )
        assert colours[0] == colours[1]
    assert page.get_by_role("img", name="A mesh of two axes").count() == 1
    for width in (360, 1100, 1280, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        expect(page.get_by_text("The names mean nothing to JAX.")).to_be_visible()


def test_steps_are_gone_through_with_the_arrow_keys_and_without_a_script(open_page: OpenPage) -> None:
    page = open_page("/lessons/dp-to-fsdp", anonymous=True, java_script_enabled=False)
    steps = page.get_by_role("group", name="One weight in a step")
    shown = steps.get_by_role("figure")
    expect(shown).to_have_count(1)
    expect(shown).to_contain_text("Rest:")
    steps.get_by_role("radio", name="Rest").focus()
    for name in ("Gather:", "Compute:", "Free:", "Reduce:", "Update:"):
        page.keyboard.press("ArrowRight")
        expect(shown).to_contain_text(name)
    steps.get_by_text("Gather", exact=True).click()
    expect(shown).to_contain_text("17,920 bytes")
    expect(steps.get_by_role("img")).to_have_accessible_name(re.compile("^One weight in a step of FSDP: gather"))
    page.emulate_media(media="print")
    expect(shown).to_have_count(6)


def test_steps_are_played_and_scrubbed(open_page: OpenPage) -> None:
    page = open_page("/lessons/dp-to-fsdp", anonymous=True)
    page.emulate_media(reduced_motion="no-preference")
    steps = page.get_by_role("group", name="One weight in a step")
    shown = steps.get_by_role("figure")
    scrub = steps.get_by_role("slider", name="Step")
    scrub.fill("5")
    expect(shown).to_contain_text("Reduce:")
    expect(scrub).to_have_attribute("aria-valuetext", "Reduce")
    scrub.press("ArrowLeft")
    expect(shown).to_contain_text("Free:")
    steps.get_by_role("radio", name="Reduce").press("Space")
    expect(scrub).to_have_value("5")
    play = steps.get_by_role("button", name="Play")
    play.press("Enter")
    expect(shown).to_contain_text("Update:")
    play.press("Enter")
    expect(shown).to_contain_text("Rest:")
    expect(steps.get_by_role("button", name="Pause")).to_be_focused()
    expect(shown).to_contain_text("Gather:")
    steps.get_by_role("button", name="Pause").press("Enter")
    expect(play).to_be_visible()
    page.emulate_media(reduced_motion="reduce")
    expect(play).to_be_hidden()
    expect(scrub).to_be_visible()


def test_the_answers_are_printed(open_page: OpenPage) -> None:
    page = open_page(LESSON, viewport={"width": 643, "height": 972}, color_scheme="dark")
    page.emulate_media(media="print")
    expect(page.get_by_text("cuts out its own block")).to_be_visible()
    for hidden in (".masthead", ".footer", ".contents", ".measured", ".read"):
        expect(page.locator(hidden)).to_be_hidden()
    colours = page.evaluate(
        "(({ color, backgroundColor }) => [color, backgroundColor])(getComputedStyle(document.body))"
    )
    assert colours == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    cut = "[...document.querySelectorAll('pre')].filter((each) => each.scrollWidth > each.clientWidth + 1).length"
    assert page.evaluate(cut) == 0


def _program(page: Page, number: int) -> Locator:
    return page.get_by_role("region", name=f"Program {number}", exact=True)


def _run(page: Page, number: int, source: str | None = None, *, script: bool = True) -> Locator:
    """Run a program, with this source if there is one. Returns what the page says of it."""
    part = _program(page, number)
    if source is not None:
        if script:
            _write(page, number, source)
        else:
            if part.locator("textarea").is_hidden():
                part.get_by_text("Change the program").press("Enter")
            part.get_by_label(f"Program {number}, Python").fill(source)
    part.locator(".output").evaluate("(each) => each.replaceChildren()")
    part.get_by_role("button", name=f"Run program {number}").press("Enter")
    expect(part.locator(".output .notice:not([data-going])")).to_be_visible(timeout=VERDICT_TIMEOUT_MS)
    return part.get_by_role("status")


def _write(page: Page, number: int, source: str) -> None:
    """Replace a program in its place."""
    part = _program(page, number)
    if part.get_by_role("button", name=f"Edit program {number}").is_visible():
        part.get_by_role("button", name=f"Edit program {number}").press("Enter")
    editor = part.get_by_role("textbox", name=f"Program {number}, Python")
    editor.press("ControlOrMeta+a")
    editor.evaluate(
        "(each, text) => { const data = new DataTransfer(); data.setData('text/plain', text);"
        "each.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })); }",
        source,
    )


@pytest.mark.parametrize("script", [True, False])
def test_a_guest_runs_a_program_and_sees_what_it_sends(open_page: OpenPage, script: bool) -> None:
    page = open_page(WITH_A_SERVED_PROBLEM, anonymous=True, java_script_enabled=script)
    part = _program(page, 2)
    if script:
        expect(_run(page, 2)).to_have_text("It printed what the lesson shows.")
    else:
        part.get_by_role("button", name="Run program 2").press("Enter")
        said = part.get_by_text("It printed what the lesson shows.")
        expect(said).to_be_visible(timeout=VERDICT_TIMEOUT_MS)
    expect(part.get_by_role("figure")).to_contain_text("each device sends 56 B in your gather.")
    expect(part.get_by_role("group", name="What gather sends")).to_contain_text("all-gather over x")
    expect(part.locator("textarea")).to_be_hidden()
    expect(part).to_be_in_viewport()


def test_a_program_is_edited_run_and_reset_in_its_place(open_page: OpenPage) -> None:
    page = open_page(LESSON, anonymous=True)
    part = _program(page, 1)
    fetched = "performance.getEntriesByType('resource').filter((each) => each.name.endsWith('/editor.js')).length"
    assert page.evaluate(fetched) == 0
    expect(part.locator(".output pre")).to_have_count(1)
    part.locator(".cell pre").click()
    editor = part.get_by_role("textbox", name="Program 1, Python")
    expect(editor).to_be_focused()
    assert page.evaluate(fetched) == 1
    reset = part.get_by_role("button", name="Reset program 1")
    expect(reset).to_be_hidden()
    _write(page, 1, "import jax\n\nprint(jax.device_count())")
    expect(reset).to_be_visible()
    for keys in ("Control+Enter", "Shift+Enter"):
        editor.press(keys)
        said = part.get_by_text("The output differs from what the lesson shows")
        expect(said).to_be_visible(timeout=VERDICT_TIMEOUT_MS)
        expect(editor).to_be_focused()
        expect(part.get_by_role("region", name="What your program 1 printed")).to_have_text("8")
        theirs = part.get_by_role("region", name="What the lesson shows for program 1")
        expect(theirs).to_be_hidden()
        part.get_by_role("button", name="Back to the lesson's program").press("Enter")
        expect(part.get_by_text("{'data': 2")).to_be_visible()
        expect(part.locator(".output pre")).to_have_count(1)
        expect(editor).to_contain_text("import numpy as np")
        _write(page, 1, "import jax\n\nprint(jax.device_count())")
    reset.press("Enter")
    expect(editor).to_contain_text("import numpy as np")
    expect(reset).to_be_hidden()
    status = _run(page, 1, "def f():\n    return missing\n\n\nf()")
    expect(status).to_have_text("The program ended with an error, line 2.")
    why = part.get_by_role("region", name="Why program 1 ended")
    expect(why).to_contain_text("line 5, in <module>\n    f()\n  line 2, in f")
    expect(why).to_contain_text("NameError: name 'missing' is not defined")
    # A reload keeps the program and its output.
    page.reload()
    expect(part.locator(".cell pre")).to_contain_text("return missing")
    expect(why).to_be_visible()
    expect(reset).to_be_visible()


def test_a_program_that_waits_is_stopped(open_page: OpenPage) -> None:
    page = open_page(LESSON, anonymous=True)
    part = _program(page, 2)
    _write(page, 2, "while True:\n    pass")
    part.get_by_role("button", name="Run program 2").click()
    expect(part.get_by_role("status")).to_have_text("Running.", timeout=VERDICT_TIMEOUT_MS)
    part.get_by_role("button", name="Stop (program 2)").click()
    expect(part.get_by_role("status")).to_have_count(0)


def test_the_contents_stay_in_view_and_mark_the_section(open_page: OpenPage) -> None:
    page = open_page(LESSON, anonymous=True, viewport={"width": 1100, "height": 800})
    contents = page.get_by_role("navigation", name="Sections of the lesson")
    link = contents.get_by_role("link", name="Sizes must divide")
    link.press("Enter")
    expect(page.get_by_role("heading", name="Sizes must divide")).to_be_in_viewport()
    expect(link).to_be_in_viewport()
    expect(contents.locator("[aria-current]")).to_have_text("Sizes must divide")
    page.set_viewport_size({"width": 360, "height": 740})
    expect(link).to_be_hidden()
    contents.get_by_text("In this lesson").press("Enter")
    expect(link).to_be_visible()


def test_a_guest_marks_a_lesson_as_read_without_a_script(open_page: OpenPage) -> None:
    page = open_page(LESSON, anonymous=True, java_script_enabled=False)
    page.get_by_role("button", name="Mark as read. Next: ").press("Enter")
    page.wait_for_url(re.compile(f"^(?!.*{LESSON})"))
    page.goto(f"{LESSON}#read")
    expect(page.get_by_role("button", name="Mark as unread")).to_be_in_viewport()
    page.goto("/lessons")
    minutes = Lessons.load(LESSONS).get(LESSON.removeprefix("/lessons/")).minutes
    expect(page.get_by_text(f"{minutes} minutes · Read").first).to_be_visible()


def test_what_a_program_prints_is_text_and_accessible_on_a_phone(open_page: OpenPage) -> None:
    evil = "</textarea></pre><script>document.title='seized'</script><img src=x onerror=\"document.title='seized'\">"
    page = open_page(LESSON, anonymous=True, viewport={"width": 360, "height": 740})
    _run(
        page,
        1,
        f"import sys\n\ntext = {evil!r} + '\\x1b[31m' + 'x' * 400\nprint(text)\nprint(text, file=sys.stderr)\n1 / 0\n",
    )
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert "seized" not in page.title()
    assert page.locator("img[src=x], [onerror]").count() == 0
    assert _program(page, 1).inner_text().count("<script>") >= 2
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    assert violations_of_colour(page) == []
