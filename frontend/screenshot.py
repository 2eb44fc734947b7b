"""Take the README's screenshot, docs/images/problem.png, from a service of its own: `python -m frontend.screenshot`."""

import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.browser import CHECKOUT, CHROMIUM, CHROMIUM_ARGUMENTS, serve
from tests.browser.workbench import PROBLEM, await_verdict, write

TARGET = CHECKOUT / "docs/images/problem.png"
SOURCE = CHECKOUT / "problems/fsdp_step/submissions/rejected/wrong_value/loss_after_the_update.py"


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(Path(folder) / "data") as service,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGUMENTS)
        page = browser.new_page(
            viewport={"width": 1440, "height": 960}, color_scheme="light", reduced_motion="reduce", base_url=service.url
        )
        page.goto(service.sign_in_url)
        page.goto(PROBLEM)
        write(page, SOURCE.read_text().split("\n\n", 1)[1])  # without the docstring, which gives it away
        page.keyboard.press("Control+Home")
        page.get_by_role("button", name="Submit").click()
        await_verdict(page, "rejected")
        TARGET.parent.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=TARGET)
        browser.close()


if __name__ == "__main__":
    main()
