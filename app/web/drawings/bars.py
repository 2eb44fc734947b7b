"""Draws horizontal bars: bytes and operations per device, for this program and the reference."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from app.web.drawings.svg import drawing, element, hatching

_WIDTH, _LABEL, _LONGEST, _VALUE = 290.0, 72.0, 138.0, 5.0
_BAR, _STEP, _NAME, _GAP = 12.0, 17.0, 15.0, 8.0


@dataclass(frozen=True, slots=True)
class Bar:
    """`style` also distinguishes bars: mine is filled, the reference hatched, and the rest outlined."""

    label: str
    value: int
    style: Literal["mine", "reference", "whole"]


@dataclass(frozen=True, slots=True)
class BarGroup:
    """Bars under one name. An empty name takes no space."""

    name: str
    bars: tuple[Bar, ...]


def draw_bars(title: str, groups: Sequence[BarGroup], in_words: Callable[[int], str]) -> Markup:
    """Draw all groups to the same scale, so that lengths can be compared between groups."""
    most = max((bar.value for group in groups for bar in group.bars), default=0)
    shapes: list[Markup] = []
    y = 0.0
    for index, group in enumerate(groups):
        y += _GAP if index else 0
        if group.name:
            shapes.append(element("text", _short(group.name), x=0, y=y + 11, class_="name"))
            y += _NAME
        for bar in group.bars:
            shapes += _draw(bar, bar.value / most * _LONGEST if most else 0.0, y, in_words(bar.value))
            y += _STEP
    description = ". ".join(
        f"{group.name}: " * bool(group.name) + ", ".join(f"{bar.label} {in_words(bar.value)}" for bar in group.bars)
        for group in groups
    )
    return drawing("bars", _WIDTH, max(y, _STEP), title, f"{description}." if description else "", *shapes)


def _draw(bar: Bar, length: float, y: float, value: str) -> list[Markup]:
    # A small value stays visible next to one that is a thousand times as large.
    length = max(length, 1.0) if bar.value else 0.0
    shapes = [
        element("text", bar.label, x=_LABEL - 6, y=y + 10, class_="label"),
        element("path", d=f"M{_LABEL} {y:g}v{_BAR:g}", class_="base"),
    ]
    if length:
        shapes.append(element("rect", x=_LABEL, y=y, width=length, height=_BAR, class_=f"bar bar-{bar.style}"))
        if bar.style == "reference":
            shapes.append(hatching(_LABEL, y, length, _BAR, "hatch"))
    shapes.append(element("text", value, x=_LABEL + length + _VALUE, y=y + 10, class_="value"))
    return shapes


def _short(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:39]}…"
