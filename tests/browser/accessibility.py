"""Check pages with axe.

Contrast takes axe most of its time, 11 s on the longest page. So axe looks at it once for each kind of element.
Elements of a kind have the same colours, sizes and classes, and so have all that they are in, up to the root. Pages
share kinds, such as those of the header, so a set that goes from page to page (`seen`) saves most of the work.

Another width or another tab changes which elements are shown, how they follow each other and what scrolls, and nothing
else that a rule is about. So `violations_of_change` applies all rules only to elements that were not shown before.
"""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

# The kinds of elements whose colours have been looked at, as hashes.
Kinds = set[str]

_ABOUT_COLOUR = ["color-contrast", "link-in-text-block"]
# Without `resultTypes`, axe describes each element that passed as well, and that takes longer than to look at it.
# Rules on the page as a whole, and on what scrolls.
_ABOUT_LAYOUT = [
    "scrollable-region-focusable",
    *("bypass", "heading-order", "page-has-heading-one", "region", "skip-link"),
    *("landmark-no-duplicate-banner", "landmark-no-duplicate-contentinfo", "landmark-no-duplicate-main"),
    *("landmark-one-main", "landmark-unique"),
]
_LOOK = """async ({ colours, layout, rules, seen }) => {
  const kinds = new Map(), known = new Set(seen.split(' ')), newKinds = [], ofNewKind = [];
  // Two halves of 32 bits, as in cyrb53: a collision would hide a kind.
  const hash = (text) => {
    let [one, two] = [0xdeadbeef, 0x41c6ce57];
    for (let at = 0; at < text.length; at++) {
      one = Math.imul(one ^ text.charCodeAt(at), 2654435761);
      two = Math.imul(two ^ text.charCodeAt(at), 1597334677);
    }
    one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909);
    two = Math.imul(two ^ (two >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
    return (one >>> 0).toString(36) + '-' + (two >>> 0).toString(36);
  };
  const kindOf = (each) => {
    if (!each) return '';
    if (!kinds.has(each)) {
      const style = getComputedStyle(each);
      const own = [each.tagName, each.getAttribute('class'), each.matches(':disabled, [aria-disabled=true]'),
        style.color, style.backgroundColor, style.backgroundImage, style.fontSize, style.fontWeight, style.opacity,
        style.textShadow, style.textDecorationLine, style.position];
      kinds.set(each, hash(`${kindOf(each.parentElement)}/${own.join(' ')}`));
    }
    return kinds.get(each);
  };
  const hasText = (each) => each.matches('input, textarea, select')
    || [...each.childNodes].some((one) => one.nodeType === Node.TEXT_NODE && one.data.trim());
  const shownBefore = (window.shownBefore ??= new WeakSet()), shown = [];
  for (const each of document.body.querySelectorAll('*')) {
    if (!each.checkVisibility({ visibilityProperty: true })) continue;
    shown.push(each);
    if (hasText(each) && !known.has(kindOf(each))) {
      known.add(kindOf(each));
      newKinds.push(kindOf(each));
      ofNewKind.push(each);
    }
  }
  const options = { resultTypes: ['violations'] };
  const off = Object.fromEntries(colours.map((each) => [each, { enabled: false }]));
  const looks = [];
  if (rules) {
    const come = shown.filter((each) => !shownBefore.has(each));
    shown.forEach((each) => shownBefore.add(each));
    if (rules === 'all') looks.push(await axe.run({ ...options, rules: off }));
    else {
      looks.push(await axe.run({ ...options, runOnly: layout }));
      if (come.length) looks.push(await axe.run({ include: come }, { ...options, rules: off }));
    }
  }
  if (ofNewKind.length) looks.push(await axe.run({ include: ofNewKind }, { ...options, runOnly: colours }));
  const found = looks.flatMap(({ violations }) => violations)
    .map(({ id, nodes }) => [id, nodes.map((each) => each.html.slice(0, 200))]);
  return [found, newKinds.join(' ')];
}"""


def violations(page: Page, seen: Kinds | None = None) -> list[tuple[str, list[str]]]:
    """Return the elements that break each rule.

    Args:
      seen: kinds of elements whose colours have been looked at. Those that this call looks at are added.
    """
    return _look(page, "all", seen)


def violations_of_change(page: Page, seen: Kinds) -> list[tuple[str, list[str]]]:
    """Do the same for a page that differs only in its width or its tab from when `violations` looked at it."""
    return _look(page, "new", seen)


def violations_of_colour(page: Page, seen: Kinds | None = None) -> list[tuple[str, list[str]]]:
    """Apply only the rules on colours, to a page that differs in nothing else from when it was looked at."""
    return _look(page, "", seen)


def _look(page: Page, rules: str, seen: Kinds | None) -> list[tuple[str, list[str]]]:
    # The script stays in the page for the next look.
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(Axe().axe_script)
    known = set() if seen is None else seen
    options = {"colours": _ABOUT_COLOUR, "layout": _ABOUT_LAYOUT, "rules": rules, "seen": " ".join(known)}
    found, new_kinds = page.evaluate(_LOOK, options)
    known |= set(new_kinds.split())
    return [(rule, elements) for rule, elements in found]
