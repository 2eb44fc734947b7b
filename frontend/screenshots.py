"""Take the pictures in docs/images from a service of its own, with the real judge: `python -m frontend.screenshots`.

shown.json beside them says how many problems, lessons and tracks they show, so that a test finds outdated pictures.
"""

import json
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from frontend.sample_class import PROBLEM, add_course
from frontend.small_png import shrink
from tests.browser.browser import CHECKOUT, CHROMIUM, CHROMIUM_ARGUMENTS, serve
from tests.browser.workbench import await_verdict, turn_to, write

TARGET = CHECKOUT / "docs/images"
SHOWN = TARGET / "shown.json"
PROBLEMS = CHECKOUT / "problems"
VIEW = {"width": 1440, "height": 900}
MAX_BYTES = 120_000
# The submissions in their order: a problem, a file of its package, and the status of the verdict.
SUBMITTED = (
    ("all_gather_tiled", "reference.py", "accepted"),
    ("psum_scatter_mean", "reference.py", "accepted"),
    ("fsdp_step", "submissions/rejected/wrong_value/loss_after_the_update.py", "rejected"),
    ("fsdp_shard_map_step", "submissions/rejected/wrong_sharding/moments_replicated.py", "rejected"),
)


def main() -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(Path(folder) / "data", all_problems=True) as service,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGUMENTS)
        page = browser.new_page(viewport=VIEW, color_scheme="light", reduced_motion="reduce", base_url=service.url)
        page.goto("/")
        _picture(page, "front")
        page.goto(service.sign_in_url)
        for name, path in (("lesson", "/lessons/meshes-and-specs"), ("explorer", "/explore")):
            page.goto(path)
            _picture(page, name)
        course = add_course(service)
        for name, path in (
            ("course", course),
            ("gradebook", f"{course}/gradebook"),
            ("roster", f"{course}/roster"),
            ("insight", f"/problems/{PROBLEM}/insight"),
        ):
            page.goto(path)
            _picture(page, name)
        for slug, file, status in SUBMITTED:
            page.goto(f"/problems/{slug}")
            # Leave out the docstring, which gives a mistake away.
            write(page, (PROBLEMS / slug / file).read_text(encoding="utf-8").partition('"""\n')[2].lstrip())
            page.keyboard.press("Control+Home")
            page.get_by_role("button", name="Submit").click()
            await_verdict(page, status)
        _picture(page, "verdict")
        turn_to(page, "Statement")
        _picture(page, "workbench")
        page.goto("/problems")
        _picture(page, "catalogue")
        shown = {
            "problems": page.locator(".stop:not(.is-lesson)").count(),
            "lessons": page.locator(".stop.is-lesson").count(),
            "tracks": page.locator(".line").count(),
        }
        page.goto("/progress")
        _picture(page, "progress")
        browser.close()
    # Write this last, so that it never says more than the pictures.
    SHOWN.write_text(json.dumps(shown) + "\n", encoding="utf-8")


def _picture(page: Page, name: str) -> None:
    page.evaluate("scrollTo(0, 0)")
    # Remove the notice of a server that has just started, which readers do not see.
    page.evaluate(
        "document.querySelectorAll('.problem-head .notice, .catalogue > .notice').forEach((each) => each.remove())"
    )
    # Take away the pointer and the focus: the editor's cursor blinks, and a link under the pointer is underlined.
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement?.blur()")
    assert page.context.browser is not None
    picture = shrink(page.context.browser, page.screenshot())
    assert len(picture) <= MAX_BYTES, f"{name} has {len(picture)} bytes"
    (TARGET / f"{name}.png").write_bytes(picture)


if __name__ == "__main__":
    main()
