"""Check in one visit what holds for every page: axe in light and dark, widths, large text, names, footer."""

from collections.abc import Iterator

from playwright.sync_api import Page, ViewportSize

from tests.browser.accessibility import Kinds, violations, violations_of_change, violations_of_colour

WIDE: ViewportSize = {"width": 1440, "height": 900}
LAPTOP: ViewportSize = {"width": 1366, "height": 768}
# A window of 1280 by 720 pixels has half as many CSS pixels each way at 200 %.
ZOOMED: ViewportSize = {"width": 640, "height": 360}
PHONE: ViewportSize = {"width": 360, "height": 740}
# The last one is a phone's.
SIZES: tuple[ViewportSize, ...] = (WIDE, {"width": 1280, "height": 720}, {"width": 1100, "height": 800}, PHONE)
# The height of the text in figures, in CSS pixels.
LEAST_ON_A_WIDE_PAGE, LEAST_ON_A_PHONE = 13, 11

_NAMES = """() => [
  document.title,
  [...document.querySelectorAll('h1')].filter((each) => each.checkVisibility()).map((each) => each.textContent.trim()),
  document.querySelectorAll('main').length,
  document.documentElement.lang,
  document.querySelectorAll('script[src*=copy_code]').length,
]"""
_OPEN = "document.querySelectorAll('main details').forEach((each) => { each.open = true; })"
_TOO_WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] : [
  `${document.documentElement.scrollWidth} px`,
  ...[...document.querySelectorAll('main *')]
    .filter((each) => each.getBoundingClientRect().right > innerWidth && !each.closest('.wide *'))
    .map((each) => each.outerHTML.slice(0, 90)).slice(0, 5)]"""
_CUT = """[...document.querySelectorAll('main a, main button, main h1, main h2, main h3, .masthead a')]
  .filter((each) => each.checkVisibility({ visibilityProperty: true }))
  .filter((each) => !each.closest('.visually-hidden, .wide, .views, svg, pre, table'))
  .filter((each) => each.getBoundingClientRect().width > 1)
  .filter((each) => each.getBoundingClientRect().left < -1 || each.getBoundingClientRect().right > innerWidth + 1)
  .map((each) => each.textContent.trim())"""
_MIDDLES = """(part) => [...document.querySelectorAll(`${part} .frame > *`)]
  .map((each) => each.getBoundingClientRect()).map((box) => box.top + box.height / 2)"""
_MOVING = """[...document.querySelectorAll('*')].filter((each) => {
  const style = getComputedStyle(each);
  return style.animationName !== 'none' || style.transitionDuration.split(', ').some((each) => parseFloat(each) > 0)
    || style.scrollBehavior === 'smooth';
}).map((each) => each.outerHTML.slice(0, 100))"""
# The height of each text in figures, the texts that are cut off, and the figures that are too narrow.
_FIGURES = """() => {
  document.querySelectorAll('.drawn').forEach((each) => { each.style.display = 'block'; });
  const texts = [...document.querySelectorAll('.drawn text')];
  const scale = (each) => Math.hypot(each.getScreenCTM().a, each.getScreenCTM().b);
  const outside = (each) => {
    const [inner, outer] = [each, each.ownerSVGElement].map((one) => one.getBoundingClientRect());
    return inner.left < outer.left - 1 || inner.right > outer.right + 1 || inner.bottom > outer.bottom + 2;
  };
  const narrow = (each) => each.clientWidth < each.parentElement.parentElement.clientWidth - 40;
  return [
    texts.map((each) => parseFloat(getComputedStyle(each).fontSize) * scale(each)),
    texts.filter(outside).map((each) => each.textContent),
    [...document.querySelectorAll('.drawn svg')].filter(narrow).map((each) => each.textContent),
  ];
}"""
# Drawings of a verdict that have no height, or are wider than the window.
_DRAWINGS = """() => [...document.querySelectorAll('section.verdict svg.drawing')]
  .filter((each) => each.closest('section.verdict').checkVisibility()).map((each) => each.getBoundingClientRect())
  .filter((box) => box.width > innerWidth || box.height === 0).map((box) => `${box.width} by ${box.height}`)"""


def faults_of(
    page: Page,
    parts: tuple[str, ...] = (),
    *,
    figures: bool = False,
    footer: bool = True,
    seen: Kinds | None = None,
) -> Iterator[str]:
    """Yield what is wrong with the page, which has just been opened in a laptop's window.

    Args:
      parts: ids of tabs that are also looked at.
      figures: whether the page has the figures of a lesson.
      footer: whether the page has a footer. A page of panes fills the window.
      seen: see accessibility.py.
    """
    seen = set() if seen is None else seen
    yield from _names(page)
    yield from _listed("moves where motion is unwanted", page.evaluate(_MOVING))
    yield from _header_and_footer(page, footer)
    for part in ("", *parts):
        about = f"#{part}, " if part else ""
        if part:
            page.evaluate("(part) => { location.hash = part; }", part)
            page.locator(f"#{part}").wait_for()
        # Open whatever a reader can open, because it is part of the page.
        page.evaluate(_OPEN)
        page.set_viewport_size(WIDE)
        yield from _listed(f"{about}axe in light", (violations_of_change if part else violations)(page, seen))
        page.emulate_media(color_scheme="dark")
        yield from _listed(f"{about}axe in dark", violations_of_colour(page, seen))
        for size in SIZES:
            page.set_viewport_size(size)
            yield from _listed(f"{about}wider than {size['width']} px", page.evaluate(_TOO_WIDE))
        yield from _listed(f"{about}axe in dark at 360 px", violations_of_change(page, seen))
        yield from _listed(f"{about}drawings at 360 px", page.evaluate(_DRAWINGS))
        page.emulate_media(color_scheme="light")
    page.set_viewport_size(ZOOMED)
    yield from _listed("wider than the window at 200 %", page.evaluate(_TOO_WIDE))
    yield from _listed("cut at 200 %", page.evaluate(_CUT))
    if figures:
        for size, least in ((WIDE, LEAST_ON_A_WIDE_PAGE), (PHONE, LEAST_ON_A_PHONE)):
            page.set_viewport_size(size)
            yield from _figures(page, size["width"], least)


def _listed(what: str, found: object) -> Iterator[str]:
    if found:
        yield f"{what}: {found}"


def _names(page: Page) -> Iterator[str]:
    title, headings, mains, language, copies = page.evaluate(_NAMES)
    name, _, site = title.rpartition(" · ")
    if site != "Meshgrade" or not name.strip():
        yield f"title: {title!r}"
    if len(headings) != 1 or not headings[0]:
        yield f"its h1: {headings}"
    if (mains, language) != (1, "en"):
        yield f"{mains} main, in {language!r}"
    if copies != 1:
        yield "no block of code can be copied"


def _header_and_footer(page: Page, footer: bool) -> Iterator[str]:
    """Yield whether the header or the footer needs more than one line at the width of a common laptop."""
    page.set_viewport_size(LAPTOP)
    for part, most_px in ((".masthead", 8), (".footer", 2)):
        middles = page.evaluate(_MIDDLES, part)
        if part == ".footer" and len(middles) != (3 if footer else 0):
            yield f"{len(middles)} parts in the footer"
        if middles and max(middles) - min(middles) > most_px:
            yield f"{part} is on several lines"


def _figures(page: Page, width: int, least: int) -> Iterator[str]:
    sizes, cut, narrow = page.evaluate(_FIGURES)
    if len(sizes) <= 3:
        yield f"only {len(sizes)} texts in figures"
    yield from _listed(f"texts below {least} px at {width} px", [each for each in sizes if each < least])
    yield from _listed(f"cut off in figures at {width} px", cut)
    yield from _listed(f"narrow figures at {width} px", narrow)
