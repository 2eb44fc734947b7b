"""Counts of people as columns side by side, each with its number above and its name below."""

from collections.abc import Sequence

from markupsafe import Markup

from app.core.web.svg import element

# Columns of fewer people are one or two full blocks, which show nothing and may point to somebody.
FEWEST_DRAWN = 5
_WIDTH, _HEIGHT, _LEFT, _TOP, _BASE = 480, 150, 8, 22, 122


def draw_columns(counts: Sequence[tuple[str, int]], title: str, unit: str) -> Markup | None:
    """None for fewer than five people. The name of the drawing says every count in words."""
    if sum(count for _, count in counts) < FEWEST_DRAWN:
        return None
    most = max(count for _, count in counts)
    width = (_WIDTH - 2 * _LEFT) / len(counts)
    shapes = []
    for place, (name, count) in enumerate(counts):
        height = (_BASE - _TOP) * count / most
        x = _LEFT + place * width
        middle = x + width / 2
        shapes.append(element("rect", x=x + 3, y=_BASE - height, width=width - 6, height=height, class_="bin"))
        shapes.append(element("text", name, x=middle, y=_BASE + 16, class_="axis", text_anchor="middle"))
        if count:
            top = _BASE - height - 5
            shapes.append(element("text", str(count), x=middle, y=top, class_="own-label", text_anchor="middle"))
    shapes.append(element("line", x1=_LEFT, x2=_WIDTH - _LEFT, y1=_BASE, y2=_BASE, class_="base"))
    words = ", ".join(f"{name}: {count}" for name, count in counts)
    return element(
        "svg",
        element("title", f"{title}, {unit}: {words}."),
        *shapes,
        class_="drawing efficiency",
        role="img",
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        width=_WIDTH,
        height=_HEIGHT,
    )
