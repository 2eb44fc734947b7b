"""The best efficiencies of all users, with the reader's own; and the reader's attempts in order."""

from collections.abc import Sequence
from itertools import pairwise

from markupsafe import Markup

from app.core.web.svg import element
from app.presentation.drawings.columns import FEWEST_DRAWN

BINS = 12
_WIDTH, _HEIGHT, _LEFT, _TOP, _BASE = 480, 150, 8, 22, 122
_TREND_WIDTH, _TREND_HEIGHT, _EDGE = 480, 90, 10


# A value, and how many users have it.
Counts = Sequence[tuple[float, int]]


def bins_of(values: Counts) -> list[tuple[float, float, int]]:
    """From, to, and how many users are in each of at most twelve equal intervals."""
    low, high = min(values)[0], max(values)[0]
    if high - low < 1e-9:
        return [(low, high, sum(count for _, count in values))]
    step = (high - low) / BINS
    counts = [0] * BINS
    for value, count in values:
        counts[min(BINS - 1, int((value - low) / step))] += count
    return [(low + place * step, low + (place + 1) * step, count) for place, count in enumerate(counts)]


def draw_spread(values: Counts, own: float | None) -> Markup | None:
    """A bar for each interval of efficiency; None for fewer than five users. The own one is filled and named."""
    users = sum(count for _, count in values)
    if users < FEWEST_DRAWN:
        return None
    bins = bins_of(values)
    most = max(count for _, _, count in bins)
    width = (_WIDTH - 2 * _LEFT) / len(bins)
    mine = None if own is None else next(place for place, bin_ in enumerate(bins) if own <= bin_[1] + 1e-9)
    shapes = []
    for place, (low, high, count) in enumerate(bins):
        height = (_BASE - _TOP) * count / most
        x = _LEFT + place * width
        bar = element(
            "rect",
            element("title", f"{low:.2f} to {high:.2f}: {count}"),
            x=x + 1,
            y=_BASE - height,
            width=width - 2,
            height=height,
            class_="bin is-own" if place == mine else "bin",
        )
        shapes.append(bar)
        if place == mine:
            anchor = "start" if place < len(bins) / 3 else "end" if place > len(bins) * 2 / 3 else "middle"
            at = x if anchor == "start" else x + width if anchor == "end" else x + width / 2
            label = element("text", "you", x=at, y=_BASE - height - 5, class_="own-label", text_anchor=anchor)
            shapes.append(label)
    shapes.append(element("line", x1=_LEFT, x2=_WIDTH - _LEFT, y1=_BASE, y2=_BASE, class_="base"))
    shapes.append(element("text", f"{bins[0][0]:.2f}", x=_LEFT, y=_BASE + 16, class_="axis"))
    if len(bins) > 1:
        right = element("text", f"{bins[-1][1]:.2f}", x=_WIDTH - _LEFT, y=_BASE + 16, class_="axis", text_anchor="end")
        shapes.append(right)
    yours = "" if own is None else f" Yours is {own:.2f}."
    title = f"Best efficiency of each of {users} users, from {min(values)[0]:.2f} to {max(values)[0]:.2f}.{yours}"
    return _drawing(title, shapes, _WIDTH, _HEIGHT)


def draw_trend(values: Sequence[float]) -> Markup:
    """A line through the user's accepted attempts, the oldest on the left."""
    low, high = min(values), max(values)
    step = (_TREND_WIDTH - 2 * _EDGE) / max(1, len(values) - 1)

    def point(place: int) -> tuple[float, float]:
        share = 0.5 if high - low < 1e-9 else (values[place] - low) / (high - low)
        return _EDGE + place * step, _TREND_HEIGHT - _EDGE - share * (_TREND_HEIGHT - 2 * _EDGE)

    points = [point(place) for place in range(len(values))]
    lines = [element("line", x1=a, y1=b, x2=c, y2=d, class_="trend") for (a, b), (c, d) in pairwise(points)]
    dots = [
        element("circle", element("title", f"{value:.2f}"), cx=x, cy=y, r=4, class_="trend-dot")
        for value, (x, y) in zip(values, points, strict=True)
    ]
    title = f"Your accepted attempts in order: {', '.join(f'{value:.2f}' for value in values)}."
    return _drawing(title, [*lines, *dots], _TREND_WIDTH, _TREND_HEIGHT)


def _drawing(title: str, shapes: Sequence[Markup], width: int, height: int) -> Markup:
    return element(
        "svg",
        element("title", title),
        *shapes,
        class_="drawing efficiency",
        role="img",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
    )
