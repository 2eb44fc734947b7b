"""How far a page moves while it is loaded, as browsers count it; moves that follow the reader's input are left out."""

from playwright.sync_api import Page

MOST_SHIFT = 0.02
SHOWN = "new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))"
# The browser keeps the shifts that came before anyone observed them.
_MOVES = f"""async () => {{
  await document.fonts.ready;
  await {SHOWN};
  const observer = new PerformanceObserver(() => {{}});
  observer.observe({{ type: 'layout-shift', buffered: true }});
  const moves = observer.takeRecords().filter((each) => !each.hadRecentInput);
  const nameOf = ({{ node }}) => node?.className || node?.nodeName || 'removed';
  const nodes = moves.flatMap((each) => each.sources.map(nameOf));
  return [moves.reduce((all, each) => all + each.value, 0), [...new Set(nodes)]];
}}"""


def shift_of(page: Page) -> str | None:
    """Say what moved until everything was shown, or None if the page was steady enough."""
    shift, nodes = page.evaluate(_MOVES)
    return f"it moves by {shift:.3f}: {nodes}" if shift >= MOST_SHIFT else None
