"""The editor replaces the text area, and helps someone who writes Python."""

from pathlib import Path

from playwright.sync_api import Route, expect

from tests.browser.workbench import PROBLEM, OpenPage, await_verdict, editor, open_settings, write


def test_what_is_typed_before_the_editor_has_loaded_is_kept(open_page: OpenPage) -> None:
    page = open_page("/problems")
    held: list[Route] = []
    page.route("**/editor.js", lambda route: held.append(route))
    page.goto(PROBLEM, wait_until="domcontentloaded")
    area = page.locator("textarea")
    area.fill("x = 1\ny = 2\n")
    area.press("ArrowUp")
    area.press("End")
    expect(page.locator("[data-draft-mark]")).to_have_text("Saved")
    for route in held:
        route.continue_()
    expect(editor(page)).to_be_focused()
    page.keyboard.type("3")
    expect(page.locator(".cm-line").nth(1)).to_have_text("y = 23")
    expect(area).to_have_value("x = 1\ny = 23\n")


def test_all_is_typed_over_before_the_keys_of_the_editor_have_loaded(open_page: OpenPage) -> None:
    """The browser marks the content, and the editor has not heard of it yet when the text comes."""
    page = open_page("/problems")
    held: list[Route] = []
    page.route("**/extras-*.js", lambda route: held.append(route))
    page.goto(PROBLEM)
    editor(page).focus()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("def one():\n    pass\n")
    expect(page.locator("textarea")).to_have_value("def one():\n    pass\n")
    for route in held:
        route.continue_()
    expect(page.locator(".cm-foldGutter")).to_be_visible()
    page.keyboard.type("two")
    expect(page.locator("textarea")).to_have_value("def one():\n    pass\ntwo")


def test_what_is_typed_before_any_script_has_loaded_is_kept(open_page: OpenPage) -> None:
    page = open_page("/problems")
    held: list[Route] = []
    page.route("**/workbench.js", lambda route: held.append(route))
    page.goto(PROBLEM, wait_until="commit")
    page.get_by_label("Your solution, Python").fill("# typed at once")
    held[0].continue_()
    expect(editor(page)).to_have_text("# typed at once")
    expect(page.locator("[data-draft-mark]")).to_have_text("Saved")


def test_the_text_area_serves_where_the_editor_cannot_be_loaded(open_page: OpenPage, complaints: list[str]) -> None:
    page = open_page("/problems")
    page.route("**/editor.js", lambda route: route.abort())
    page.goto(PROBLEM)
    area = page.locator("textarea")
    area.fill("x = ")
    area.press("Control+Enter")
    expect(page.locator("[data-phase]")).not_to_be_empty()
    complaints.clear()  # the browser logs the failed request itself


def test_names_of_the_libraries_are_completed_with_their_signatures(open_page: OpenPage) -> None:
    page = open_page(PROBLEM)
    page.clock.install()
    write(page, "from jax import lax as l\nfrom flax import nnx\n")
    expect(page.locator(".cm-foldGutter")).to_be_visible()  # what completes is loaded with the first focus
    page.keyboard.type("y = l.psum_sc")
    expect(page.locator(".cm-tooltip-autocomplete li").first).to_contain_text("psum_scatter(x, axis_name, *")
    page.keyboard.press("Control+Space")
    page.clock.fast_forward(1000)  # it ignores keys that were meant for the text below a list that has just opened
    page.keyboard.press("Enter")
    page.keyboard.type("(1")
    expect(page.locator(".cm-line").last).to_have_text("y = l.psum_scatter(1)")
    page.keyboard.press("End")
    page.keyboard.type("\nnnx.Lin")
    expect(page.locator(".cm-tooltip-autocomplete li").first).to_contain_text("Linear(in_features, out_features")


def test_brackets_close_and_backspace_removes_an_indentation(open_page: OpenPage) -> None:
    page = open_page(PROBLEM)
    write(page, "# ")
    expect(page.locator(".cm-foldGutter")).to_be_visible()
    page.keyboard.type("\nf([")
    expect(page.locator(".cm-line").last).to_have_text("f([])")
    page.keyboard.type("])\n\t\t")
    page.keyboard.press("Backspace")
    page.keyboard.type("x")
    expect(page.locator(".cm-line").last).to_have_text("    x")


def test_a_syntax_error_is_marked_while_typing(open_page: OpenPage) -> None:
    page = open_page(PROBLEM)
    write(page, "def f(x):\n    return (x +\n\nclass = 1\n")
    expect(page.locator(".cm-lintRange-error").first).to_be_visible()
    write(page, "def f(x):\n    return x\n")
    expect(page.locator(".cm-lintRange-error")).to_have_count(0)


def test_what_was_typed_before_a_reload_can_be_undone(open_page: OpenPage) -> None:
    page = open_page(PROBLEM)
    page.clock.install()
    write(page, "first = 1")
    page.clock.fast_forward(1000)  # what is typed within half a second is undone together
    page.keyboard.press("End")
    page.keyboard.type("\nsecond = 2")
    expect(page.locator("[data-draft-mark]")).to_have_text("Saved")
    page.reload()
    expect(editor(page)).to_contain_text("second = 2")
    editor(page).focus()
    page.keyboard.press("Control+z")
    expect(editor(page)).to_have_text("first = 1")


def test_settings_are_remembered(open_page: OpenPage) -> None:
    page = open_page(PROBLEM)
    expect(editor(page)).to_be_visible()
    menu = page.locator("[data-editor-menu]")
    menu.locator("summary").click()
    menu.get_by_label("Text size").select_option("very large")
    menu.get_by_label("Indent by").select_option("2")
    menu.get_by_label("Wrap long lines").check()
    page.reload()
    expect(editor(page)).to_have_css("font-size", "20px")
    expect(editor(page)).to_have_class("cm-content cm-lineWrapping")
    write(page, "x")
    page.keyboard.press("Home")
    page.keyboard.press("Tab")
    expect(page.locator(".cm-line").first).to_have_text("  x")


def test_full_screen_is_left_with_escape_and_announced(open_page: OpenPage) -> None:
    page = open_page(PROBLEM)
    expect(editor(page)).to_be_visible()
    page.locator("[data-editor-menu] summary").click()
    page.get_by_role("button", name="Full screen").click()
    expect(page.locator("[data-editor-said]")).to_contain_text("Press Escape to leave it")
    box = page.locator("#workbench").bounding_box()
    assert box
    assert (box["x"], box["y"]) == (0, 0)
    expect(page.get_by_role("button", name="Submit")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page.locator("#workbench.is-full")).to_have_count(0)


def test_the_file_is_downloaded_and_another_one_uploaded(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page(PROBLEM)
    write(page, "x = 'ü'\n")
    menu = page.locator("[data-editor-menu] summary")
    menu.click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "fsdp_step.py"
    assert download.value.path().read_text() == "x = 'ü'\n"
    (tmp_path / "mine.py").write_bytes(b"y = 2\r\n")
    menu.click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload a file").click()
    chooser.value.set_files(tmp_path / "mine.py")
    expect(page.locator("textarea")).to_have_value("y = 2\n")


def test_a_line_that_the_verdict_names_is_marked_and_a_click_leads_to_it(open_page: OpenPage) -> None:
    page = open_page(PROBLEM)
    write(page, "def fsdp_step(seed, x, y, num_shards, lr):\n    raise ValueError('an own mistake')\n")
    page.get_by_role("button", name="Run").click()
    verdict = await_verdict(page, "rejected")
    expect(page.locator(".cm-line.cm-marked")).to_have_text("    raise ValueError('an own mistake')")
    expect(page.locator(".cm-marked-number")).to_have_text("2")
    verdict.locator("[data-line='2']").first.click()
    expect(editor(page)).to_be_focused()
    expect(page.locator(".cm-lineNumbers .cm-activeLineGutter")).to_have_text("2")
    page.keyboard.press("Home")
    page.keyboard.press("Control+Home")
    page.keyboard.press("Enter")
    expect(page.locator(".cm-marked-number")).to_have_text("3")


def test_vim_keys_are_loaded_when_they_are_switched_on_and_stay(open_page: OpenPage) -> None:
    page = open_page(PROBLEM)
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url))
    write(page, "one\ntwo")
    assert not any("/vim-" in url for url in loaded)
    open_settings(page)
    page.get_by_label("Vim keys").check()
    page.keyboard.press("Escape")
    page.locator("[data-help-menu] summary").click()
    expect(page.get_by_text("Vim: i writes")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".cm-vim-panel")).to_be_visible()
    editor(page).focus()
    page.keyboard.type("ggdd")
    expect(editor(page)).to_have_text("two")
    page.keyboard.type("iof ")
    page.keyboard.press("Escape")
    expect(editor(page)).to_have_text("of two")
    page.keyboard.press("Tab")
    expect(editor(page)).not_to_be_focused()
    page.reload()
    expect(page.locator(".cm-vim-panel")).to_be_visible()
    open_settings(page)
    page.get_by_label("Vim keys").uncheck()
    expect(page.locator(".cm-vim-panel")).to_have_count(0)


def test_a_function_is_folded_and_opened_again(open_page: OpenPage) -> None:
    page = open_page(PROBLEM)
    write(page, "def f(x):\n    return x\n\ny = 1\n")
    lines = page.locator(".cm-line")
    page.locator(".cm-foldGutter").get_by_title("Fold line", exact=True).click()
    expect(lines.first).to_have_text("def f(x):…")
    expect(lines).to_have_count(4)
    page.locator(".cm-foldGutter").get_by_title("Unfold line").and_(page.locator(":visible")).click()
    expect(lines).to_have_count(5)
    expect(lines.nth(1)).to_have_text("    return x")
    expect(page.locator("textarea")).to_have_value("def f(x):\n    return x\n\ny = 1\n")


def test_several_cursors_type_at_once(open_page: OpenPage) -> None:
    page = open_page(PROBLEM)
    write(page, "mean = 1\nloss = mean + mean\n")
    expect(page.locator(".cm-foldGutter")).to_be_visible()
    page.keyboard.press("Control+Home")
    for _ in range(2):  # selects the word, and then its next place as well
        page.keyboard.press("Control+d")
    page.keyboard.insert_text("total")
    expect(page.locator("textarea")).to_have_value("total = 1\nloss = total + mean\n")
    page.keyboard.press("Control+z")
    expect(page.locator("textarea")).to_have_value("mean = 1\nloss = mean + mean\n")


def test_the_code_is_copied(open_page: OpenPage) -> None:
    page = open_page(PROBLEM, permissions=["clipboard-read", "clipboard-write"])
    write(page, "x = 1  # <b>&amp;\n")
    open_settings(page)
    page.get_by_role("button", name="Copy the code").click()
    expect(page.locator("[data-editor-said]")).not_to_be_empty()
    assert page.evaluate("navigator.clipboard.readText()") == "x = 1  # <b>&amp;\n"


def test_a_secret_that_is_shown_once_is_copied(open_page: OpenPage) -> None:
    page = open_page("/account/tokens", permissions=["clipboard-read", "clipboard-write"])
    page.get_by_label("Name").fill("editor")
    page.get_by_role("button", name="Create").click()
    secret = page.locator("#secret")
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == secret.input_value()


def test_the_code_is_formatted_from_the_menu_and_by_keys(open_page: OpenPage, complaints: list[str]) -> None:
    page = open_page(PROBLEM)
    with page.expect_response("**/extras-*.js"):
        editor(page).press("Home")
    write(page, "x=1")
    editor(page).press("Shift+Alt+F")
    expect(editor(page)).to_have_text("x = 1")
    editor(page).press("Control+z")
    expect(editor(page)).to_have_text("x=1")
    open_settings(page)
    page.get_by_role("button", name="Format the code").click()
    expect(editor(page)).to_have_text("x = 1")
    write(page, "x = (")
    editor(page).press("Shift+Alt+F")
    expect(page.locator("[data-editor-said]")).to_contain_text("Line 1")
    expect(editor(page)).to_have_text("x = (")
    # The browser logs each refusal of the server.
    assert all("422" in each for each in complaints)
    complaints.clear()


def test_the_editor_has_a_theme_of_its_own(open_page: OpenPage) -> None:
    page = open_page(PROBLEM, color_scheme="light")
    box = page.locator(".editor")
    light = box.evaluate("(each) => getComputedStyle(each).backgroundColor")
    open_settings(page)
    page.get_by_label("Theme").last.select_option("dark")
    dark = box.evaluate("(each) => getComputedStyle(each).backgroundColor")
    assert dark != light
    page.reload()
    expect(box).to_have_css("background-color", dark)


def test_the_account_has_the_settings_of_the_editor_and_the_theme(open_page: OpenPage) -> None:
    page = open_page("/account", color_scheme="light")
    page.get_by_label("Vim keys").check()
    page.get_by_label("Text size").select_option("large")
    page.get_by_role("radio", name="Dark").check()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
    expect(page.get_by_label("Vim keys")).to_be_checked()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto(PROBLEM)
    expect(page.locator("[data-setting=vim]")).to_be_checked()
    expect(page.locator("[data-setting=size]")).to_have_value("1")
