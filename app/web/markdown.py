"""Renders the Markdown of problems: headings with ids, highlighted code, TeX maths, but no raw HTML."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from mdit_py_plugins.dollarmath import dollarmath_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from app.web.tex import render_tex

# Marks the place of a formula while the text is sanitised. Both marks are private-use characters, which are removed
# from the parsed tokens (only then, because &#xE000; is one too), so no text can refer to a formula or look like one.
_OPEN, _CLOSE = "\ue000", "\ue001"
_PLACE = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")
_TAGS = {
    "a", "blockquote", "br", "code", "div", "em", "h2", "h3", "h4", "h5", "h6", "hr", "img", "li", "ol", "p", "pre",
    "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {
    "a": {"href", "title"},
    "img": {"src", "alt", "title"},
    "span": {"class"},
    "pre": {"tabindex"},
    "div": {"class", "tabindex"},
    "ol": {"start"},
    "h2": {"id"},
    "h3": {"id"},
}


@dataclass(frozen=True, slots=True)
class Heading:
    """A second-level heading. `anchor` is its id on the page."""

    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Section:
    """A second-level heading with the text up to the next one. `heading` is None for the text before the first."""

    heading: Heading | None
    html: Markup


@dataclass(frozen=True, slots=True)
class Prose:
    """Rendered Markdown that is safe to put into a page. `headings` includes those inside a quotation."""

    sections: tuple[Section, ...]
    headings: tuple[Heading, ...]

    @property
    def html(self) -> Markup:
        return Markup("").join(each.html for each in self.sections)

    def split_at(self, text: str) -> tuple[tuple[Section, ...], tuple[Section, ...]]:
        """The sections before the one with this heading, and the others. Without one, there are none before it."""
        names = [each.heading and each.heading.text for each in self.sections]
        at = names.index(text) if text in names else 0
        return self.sections[:at], self.sections[at:]


@lru_cache(maxsize=256)
def render_markdown(
    text: str, *, anchors: str = "s", figures: str = "", problems: tuple[tuple[str, str], ...] = ()
) -> Prose:
    """Render Markdown.

    Args:
      text: Markdown. Raw HTML in it is shown as text.
      anchors: prefix of every heading's id, so that no heading can take the id of an element of the page.
      figures: URL of the folder that relative image paths refer to.
      problems: slug and title of problems. `*slug*` becomes a link to one, and stays as it is for any other slug.
    """
    formulas: list[Markup] = []

    def keep(tex: str, options: dict[str, Any]) -> str:
        formulas.append(render_tex(tex, display=bool(options["display_mode"])))
        return f"{_OPEN}{len(formulas) - 1}{_CLOSE}"

    parser = _parser(keep)
    tokens = parser.parse(text)
    _clear_marks(tokens)
    _free_empty_corners(tokens)
    headings = _name_headings(tokens, anchors)
    _resolve_images(tokens, figures)
    _free_figures(tokens)
    _link_problems(tokens, dict(problems))
    by_anchor = {each.anchor: each for each in headings}

    def show(part: Sequence[Token]) -> Markup:
        clean = nh3.clean(
            parser.renderer.render(part, parser.options, {}),
            tags=_TAGS,
            attributes=_ATTRIBUTES,
            url_schemes={"https", "http", "mailto"},
            link_rel="noopener noreferrer",
        )
        return Markup(_PLACE.sub(lambda place: formulas[int(place[1])], clean))

    sections = (Section(by_anchor.get(str(part[0].attrGet("id"))), show(part)) for part in _cut(tokens))
    return Prose(tuple(sections), headings)


def _cut(tokens: list[Token]) -> list[list[Token]]:
    """One list for each second-level heading that is not inside anything else, and one for what comes before."""
    start = ("heading_open", "h2", 0)
    starts = (at for at, token in enumerate(tokens) if (token.type, token.tag, token.level) == start)
    return [tokens[start:end] for start, end in pairwise(sorted({0, *starts, len(tokens)}))]


def _clear_marks(tokens: list[Token]) -> None:
    marks = str.maketrans("", "", _OPEN + _CLOSE)
    for token in tokens:
        token.content = token.content.translate(marks)
        token.attrs = {
            name: value.translate(marks) if isinstance(value, str) else value for name, value in token.attrs.items()
        }
        _clear_marks(token.children or [])


def _free_empty_corners(tokens: list[Token]) -> None:
    """A head cell with nothing in it, above the names of rows, heads nothing: it becomes a plain cell."""
    for opening, inline, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opening.type == "th_open" and not inline.content.strip():
            opening.tag = closing.tag = "td"


def _parser(keep: Callable[[str, dict[str, Any]], str]) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "highlight": highlight_code})
    parser.enable(["table", "strikethrough"])
    parser.use(dollarmath_plugin, allow_labels=False, allow_space=False, double_inline=True, renderer=keep)
    # The default rules add class="language-..." with any text of the author, and wrap maths in a div.
    parser.add_render_rule("fence", _render_fence)
    parser.add_render_rule("table_open", _fixed('<div class="wide" tabindex="0"><table>'))
    parser.add_render_rule("table_close", _fixed("</table></div>\n"))
    parser.add_render_rule("math_inline", _render_formula(keep, display=False))
    parser.add_render_rule("math_inline_double", _render_formula(keep, display=True))
    parser.add_render_rule("math_block", _render_formula(keep, display=True))
    return parser


def _render_formula(keep: Callable[[str, dict[str, Any]], str], *, display: bool) -> Callable[..., str]:
    def render(_self: object, tokens: Sequence[Token], index: int, _options: object, _env: object) -> str:
        return keep(tokens[index].content, {"display_mode": display})

    return render


def _fixed(html: str) -> Callable[..., str]:
    return lambda *_: html


def _render_fence(_self: object, tokens: Sequence[Token], index: int, _options: object, _env: object) -> str:
    token = tokens[index]
    language = token.info.split(maxsplit=1)[0] if token.info.strip() else ""
    # Focusable, so that a block wider than the page can be scrolled with the keyboard.
    return f'<pre tabindex="0"><code>{highlight_code(token.content, language)}</code></pre>\n'


def highlight_code(code: str, language: str = "python", _attributes: str = "") -> Markup:
    """Highlight code with Pygments' class names. Unknown languages stay plain."""
    try:
        lexer = get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return Markup.escape(code)
    return Markup(highlight(code, lexer, HtmlFormatter(nowrap=True)))


def _name_headings(tokens: list[Token], prefix: str) -> tuple[Heading, ...]:
    """Give headings an id, and turn `#` into `##`: the page's title is its only first-level heading."""
    headings: list[Heading] = []
    taken: set[str] = set()
    for opening, inline, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opening.type != "heading_open":
            continue
        if opening.tag == "h1":
            opening.tag = closing.tag = "h2"
        if opening.tag not in {"h2", "h3"}:
            continue
        text = "".join(child.content for child in inline.children or [] if child.type in {"text", "code_inline"})
        stem = f"{prefix}-{re.sub(r'[^a-z0-9]+', '-', text.lower()).strip('-') or 'section'}"
        anchor, count = stem, 1
        while anchor in taken:
            count += 1
            anchor = f"{stem}-{count}"
        taken.add(anchor)
        opening.attrSet("id", anchor)
        if opening.tag == "h2":
            headings.append(Heading(text, anchor))
    return tuple(headings)


def _resolve_images(tokens: list[Token], folder: str) -> None:
    """Resolve `figures/x.svg` to the folder's URL. Other addresses are removed: pages load nothing from other sites."""
    for token in (child for parent in tokens for child in parent.children or []):
        if token.type == "image":
            name = re.fullmatch(r"figures/([A-Za-z0-9_-]+\.svg)", str(token.attrGet("src") or ""))
            token.attrSet("src", f"{folder}/{name[1]}" if name and folder else "")


def _free_figures(tokens: list[Token]) -> None:
    """A figure that is alone in its paragraph scrolls by itself, so that a small screen need not shrink its text."""
    for opening, inline, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opening.type == "paragraph_open" and [each.type for each in inline.children or []] == ["image"]:
            opening.tag = closing.tag = "div"
            opening.attrs |= {"class": "wide figure", "tabindex": "0"}


def _link_problems(tokens: list[Token], titles: dict[str, str]) -> None:
    """Turn emphasis of a slug alone into a link with the problem's title."""
    for parent in tokens:
        children = parent.children or []
        for opening, text, closing in zip(children, children[1:], children[2:], strict=False):
            kinds = (opening.type, text.type, closing.type)
            if kinds == ("em_open", "text", "em_close") and text.content in titles:
                opening.tag = closing.tag = "a"
                opening.attrSet("href", f"/problems/{text.content}")
                text.content = titles[text.content]
