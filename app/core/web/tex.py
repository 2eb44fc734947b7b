"""Converts TeX to MathML, so that pages show maths without a script."""

import html
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element
from markupsafe import Markup

_MAX_CHARS = 4000
_TAGS = frozenset({
    "math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "ms", "mfrac", "msqrt", "mroot", "msub", "msup",
    "msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts", "none", "mtable", "mtr", "mtd",
    "mstyle", "mpadded", "mphantom", "merror", "menclose",
})  # fmt: skip
# Not href, class and style, which \href, \class and \style in a formula could set to anything.
_ATTRIBUTES = frozenset({
    "display", "displaystyle", "scriptlevel", "mathvariant", "stretchy", "fence", "separator", "form", "lspace",
    "rspace", "width", "height", "depth", "linethickness", "columnalign", "rowspacing", "columnspacing",
    "columnlines", "rowlines", "accent", "accentunder", "minsize", "maxsize", "largeop", "movablelimits",
    "symmetric", "notation",
})  # fmt: skip


def render_tex(tex: str, *, display: bool) -> Markup:
    """Draw a formula. If it cannot be parsed, its source is shown and marked as an error."""
    source = tex.strip()
    try:
        if len(source) > _MAX_CHARS:
            raise ValueError("formula too long")
        drawn = _serialize(convert_to_element(source, display="block" if display else "inline"))
    # The converter raises many kinds of errors (IndexError, RecursionError, its own ones), and a formula that cannot
    # be drawn must not break the page.
    except Exception:
        drawn = Markup('<code class="tex-error">{}</code>').format(source)
    # Focusable, so that a formula wider than the page can be scrolled by keyboard.
    return Markup('<span class="display" tabindex="0">{}</span>').format(drawn) if display else drawn


def _serialize(element: Element) -> Markup:
    """Serialize the tree ourselves: latex2mathml's writer unescapes it, and \\text{<script>} would be a script."""
    children = Markup("").join(_serialize(child) for child in element)
    text = Markup.escape(html.unescape(element.text or ""))
    tail = Markup.escape(html.unescape(element.tail or ""))
    if element.tag not in _TAGS:
        return text + children + tail
    attributes = Markup("").join(
        Markup(' {}="{}"').format(name, value) for name, value in element.attrib.items() if name in _ATTRIBUTES
    )
    tag = Markup(element.tag)  # safe: one of _TAGS
    return Markup("<{0}{1}>{2}{3}</{0}>{4}").format(tag, attributes, text, children, tail)
