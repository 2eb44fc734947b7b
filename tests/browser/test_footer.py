"""The footer stays on one line at the width of a common laptop."""

import pytest

from tests.browser.workbench import OpenPage


@pytest.mark.parametrize("path", ["/", "/calculators"])
def test_the_footer_does_not_wrap(open_page: OpenPage, path: str) -> None:
    page = open_page(path, viewport={"width": 1366, "height": 768})
    parts = [each.bounding_box() for each in page.locator(".footer .frame > *").all()]
    middles = {round(box["y"] + box["height"] / 2) for box in parts if box is not None}
    assert len(parts) == 3
    assert max(middles) - min(middles) <= 2
