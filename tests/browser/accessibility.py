"""What axe finds on a page.

Contrast takes axe most of its time, 11 s on the longest page. So it is looked at once for each kind of element, until
another page is loaded: elements of a kind have the same colours, sizes and classes, and so have all that they are in,
up to the root.
"""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

_ABOUT_COLOUR = ["color-contrast", "link-in-text-block"]
# Without `resultTypes`, axe describes each element that passed as well, and that takes longer than to look at it.
_LOOK = """async ({ colours, rules }) => {
  const kinds = new Map(), known = (window.seenKinds ??= new Set()), chosen = [];
  const kindOf = (each) => {
    if (!each) return '';
    if (!kinds.has(each)) {
      const style = getComputedStyle(each);
      const own = [each.tagName, each.getAttribute('class'), each.matches(':disabled, [aria-disabled=true]'),
        style.color, style.backgroundColor, style.backgroundImage, style.fontSize, style.fontWeight, style.opacity,
        style.textShadow, style.textDecorationLine, style.position];
      kinds.set(each, `${kindOf(each.parentElement)}/${own.join(' ')}`);
    }
    return kinds.get(each);
  };
  const hasText = (each) => each.matches('input, textarea, select')
    || [...each.childNodes].some((one) => one.nodeType === Node.TEXT_NODE && one.data.trim());
  for (const each of document.body.querySelectorAll('*')) {
    if (hasText(each) && each.checkVisibility({ visibilityProperty: true }) && !known.has(kindOf(each))) {
      known.add(kindOf(each));
      chosen.push(each);
    }
  }
  const options = { resultTypes: ['violations'] };
  const off = Object.fromEntries(colours.map((each) => [each, { enabled: false }]));
  const looks = [];
  if (rules) looks.push(await axe.run({ ...options, rules: off }));
  if (chosen.length) looks.push(await axe.run({ include: chosen }, { ...options, runOnly: colours }));
  return looks.flatMap(({ violations }) => violations)
    .map(({ id, nodes }) => [id, nodes.map((each) => each.html.slice(0, 200))]);
}"""


def violations(page: Page) -> list[tuple[str, list[str]]]:
    """By rule, the elements that break it."""
    return _look(page, rules=True)


def violations_of_colour(page: Page) -> list[tuple[str, list[str]]]:
    """Only of the rules on colours, for a page that differs in nothing else from when it was looked at."""
    return _look(page, rules=False)


def _look(page: Page, **options: bool) -> list[tuple[str, list[str]]]:
    # The script stays in the page for the next look.
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(Axe().axe_script)
    found = page.evaluate(_LOOK, {"colours": _ABOUT_COLOUR, **options})
    return [(rule, elements) for rule, elements in found]
