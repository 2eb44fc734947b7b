"""Inline SVG as text. Every text in a drawing passes through here, so that nothing reaches a page unescaped."""

from typing import Literal

from markupsafe import Markup, escape

Kind = Literal["mesh", "bars", "timeline", "cells", "shape"]

# Screen pixels per unit of a drawing, if there is room. Style sheets let it shrink, but never grow.
_SCALE = 1.35
_HATCH_STEP = 4.0


def element(name: str, *children: str, **attributes: str | float | None) -> Markup:
    """One element. Children that are not `Markup` are text. Attributes that are `None` are left out.

    >>> element("text", "a < b", x=1.50, class_="label", text_anchor=None)
    Markup('<text x="1.5" class="label">a &lt; b</text>')
    """
    present = [(key, value) for key, value in attributes.items() if value is not None]
    parts = [Markup(' {}="{}"').format(_attribute(key), _value(value)) for key, value in present]
    opening = Markup("<{}").format(name) + Markup("").join(parts)
    if not children:
        return opening + Markup("/>")
    return opening + Markup(">") + Markup("").join(map(escape, children)) + Markup("</{}>").format(name)


def drawing(kind: Kind, width: float, height: float, title: str, description: str, *shapes: Markup) -> Markup:
    """A whole drawing. Assistive technology sees an image with the name `title`. Sizes are in the drawing's units."""
    return element(
        "svg",
        element("title", title or "Drawing"),
        *([element("desc", description)] if description else []),
        *shapes,
        class_=f"drawing drawing-{kind}",
        role="img",
        viewBox=f"0 0 {_value(width)} {_value(height)}",
        width=width * _SCALE,
        height=height * _SCALE,
    )


def hatching(x: float, y: float, width: float, height: float, class_: str) -> Markup:
    """Diagonal lines over a rectangle.

    Not an SVG pattern: those are found by an id in the whole page, and the element with it may be in a closed
    <details>.
    """
    lines = []
    offset = _HATCH_STEP / 2
    while offset < width + height:
        # The line with (x distance + y distance) = `offset`, from where it enters the rectangle to where it leaves.
        left, right = max(0.0, offset - height), min(offset, width)
        ends = (x + left, y + offset - left, x + right, y + offset - right)
        lines.append("M{} {}L{} {}".format(*map(_value, ends)))
        offset += _HATCH_STEP
    return element("path", d="".join(lines), class_=class_)


def _attribute(key: str) -> str:
    return "class" if key == "class_" else key.replace("_", "-")


def _value(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")
