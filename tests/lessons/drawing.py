"""Builds every figure of the lessons: as wide as the text that it is in, with text of one size, in the page's colours.

`x` and widths count 360ths of the figure's width, `y` and heights pixels: a wider page stretches a figure sideways and
leaves its text alone. Classes are those of app/learning/static/lessons.css, which follow the theme.
"""

from collections.abc import Iterable, Sequence

WIDTH = 360
_LEFT, _BAR = 96, 258
BAR_HEIGHT = 38


def _across(x: float) -> str:
    return f"{x / WIDTH:.2%}".replace(".00%", "%")


def text(x: float, y: float, content: object, kind: str = "", anchor: str = "start") -> str:
    """Draw a text. `anchor` says which end of the text is at `x`: start, middle or end."""
    placed = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{_across(x)}" y="{y:g}"{placed}{_class(kind)}>{content}</text>'


def rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect x="{_across(x)}" y="{y:g}" width="{_across(width)}" height="{height:g}"{_class(kind)}/>'


def cell(x: float, y: float, width: float, height: float, kind: str, content: object, text_kind: str = "") -> list[str]:
    """Draw a rectangle with a text in its middle."""
    return [rect(x, y, width, height, kind), text(x + width / 2, y + height / 2 + 5, content, text_kind, "middle")]


def bar(y: float, label: str, said: str, parts: Iterable[tuple[int, int]], most: int) -> list[str]:
    """Draw an amount in words above its bar, which has a part per amount and colour. `most` fills the figure."""
    body, x = [text(4, y + 13, label, "soft-text"), text(_LEFT, y + 13, said)], float(_LEFT)
    for amount, colour in parts:
        width = _BAR * amount / most
        body.append(rect(x, y + 18, width, 14, f"held of-{colour}"))
        x += width
    return body


def svg(name: str, title: str, what: str, height: float, body: Sequence[str]) -> str:
    """Build a figure. `name` is part of the ids of its title and description, so it must be unique on the page."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="100%" height="{height:g}" role="img" '
        f'aria-labelledby="{name}-title {name}-desc">',
        f'<title id="{name}-title">{title}</title>',
        f'<desc id="{name}-desc">{what}</desc>',
        *body,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""
