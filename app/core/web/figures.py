"""Figures of problems as parts of the page, so that they follow its theme and their text keeps a readable size.

A figure is an author's file. Only shapes and text in the colours of `PALETTE` become part of a page: with the
attributes in `_ATTRIBUTES`, without classes and styles, and with its own ids. Any other figure stays an image.
"""

import math
from functools import lru_cache
from xml.etree import ElementTree

from markupsafe import Markup

from grader.review.figures import active_content

# Slices, in the order of the tokens `--shard-1` to `--shard-8` that prose.css draws them with.
SLICES = "#0072b2 #b34700 #007a5a #8c3d78 #4020e0 #600060 #0020a0 #004000".split()
# Kinds of collectives, drawn with `--kind-1` to `--kind-6`: all_gather, all_reduce, reduce_scatter, all_to_all,
# collective_permute and any other.
COLLECTIVES = "#0f3db0 #824905 #8d64fe #0e828e #6d0b4a #808f24".split()
_GREYS = "none #1f2933 #52606d #9aa5b1 #d9e2ec #f7f9fb #ffffff".split()
# Colours that prose.css replaces with those of the theme.
PALETTE = frozenset([*SLICES, *COLLECTIVES, *_GREYS, "#dcebf5", "#f3e0d2"])
_SVG = "{http://www.w3.org/2000/svg}"
_SHAPES = frozenset(f"{_SVG}{each}" for each in "tspan rect circle ellipse line polyline polygon path text".split())
_ATTRIBUTES = frozenset(
    "x y x1 y1 x2 y2 cx cy r rx ry dx dy d points width height transform fill stroke stroke-width stroke-dasharray "
    "stroke-linecap stroke-linejoin fill-opacity stroke-opacity opacity text-anchor font-size font-weight font-style "
    "font-family dominant-baseline".split()
)
_SMALLEST, _DEFAULT_SIZE = 11, 16
_STEP_REM, _ROOT_PX = 4, 16


@lru_cache(maxsize=512)
def inline_figure(svg: str) -> Markup | None:
    """The figure as SVG for a page, hidden from readers of the screen: what it shows is said beside it.

    Returns None if it must stay an image.
    """
    if active_content(svg):
        return None
    root = ElementTree.fromstring(svg)  # safe: `active_content` refuses a DOCTYPE
    shapes = [each for each in root if each.tag not in (f"{_SVG}title", f"{_SVG}desc")]
    every = [*shapes, *(span for shape in shapes if shape.tag == f"{_SVG}text" for span in shape)]
    box = (root.get("viewBox") or "").split()
    if len(box) != 4 or not all(map(_is_plain, every)):
        return None
    try:
        sizes = [float(each.get("font-size", _DEFAULT_SIZE)) for each in every if each.tag == f"{_SVG}text"]
        narrowest = float(box[2]) * _SMALLEST / min(sizes, default=_DEFAULT_SIZE) / _ROOT_PX
    except (ValueError, ZeroDivisionError):
        return None
    least = min(64, math.ceil(narrowest / _STEP_REM) * _STEP_REM)
    body = "".join(_written(each) for each in shapes)
    opening = Markup('<svg class="least-{}" viewBox="{}" aria-hidden="true">').format(least, " ".join(box))
    return opening + Markup(body) + Markup("</svg>")


def _is_plain(element: ElementTree.Element) -> bool:
    colours = {element.get(name, "none") for name in ("fill", "stroke")}
    inside = f"{_SVG}tspan" if element.tag == f"{_SVG}text" else ""
    known = element.tag in _SHAPES and all(each.tag == inside and not len(each) for each in element)
    return known and set(element.attrib) <= _ATTRIBUTES and colours <= PALETTE


def _written(element: ElementTree.Element) -> Markup:
    name = element.tag.removeprefix(_SVG)
    attributes = Markup("").join(Markup(' {}="{}"').format(key, value) for key, value in element.attrib.items())
    if name not in ("text", "tspan"):
        return Markup("<{}{}/>").format(name, attributes)
    spans = Markup("").join(_written(each) + (each.tail or "") for each in element)
    return Markup("<{}{}>{}{}</{}>").format(name, attributes, element.text or "", spans, name)
