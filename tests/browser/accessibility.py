"""What axe finds on a page."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

ABOUT_COLOUR = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}


def violations(page: Page, **options: object) -> list[tuple[str, list[str]]]:
    found = Axe().run(page, options=options or None).response["violations"]
    return [(violation["id"], [node["html"][:200] for node in violation["nodes"]]) for violation in found]
