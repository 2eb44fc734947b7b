"""Renders the Markdown of problems: headings with ids, highlighted code, TeX maths, but no raw HTML.

`parse_markdown` does the work. Its result does not depend on the page that shows the text, so it can be stored.
`render_markdown` is for texts that came with this version of the service. All others are parsed by a process with a
limit on CPU time (app/problems/rendered_texts.py).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from mdit_py_plugins.dollarmath import dollarmath_plugin

from app.core.web.figures import inline_figure
from app.core.web.highlight import highlight_code
from app.core.web.tex import render_tex

# Mark the place of a formula while the text is sanitised, and of a figure and of a link until the text is shown. They
# are private-use characters, which are removed from the parsed tokens (only then, because &#xE000; is one too), so no
# text can refer to a formula or look like one.
_OPEN, _CLOSE, _FIGURE, _SLUG = "\ue000", "\ue001", "\ue002", "\ue003"
_PLACE = re.compile(f"{_OPEN}([0-9]+){_CLOSE}")
_IMAGE = re.compile(f'<img((?: [a-z]+="[^"]*")*? src="{_FIGURE}([A-Za-z0-9_-]+)\\.svg"(?: [a-z]+="[^"]*")*)>')
_ALT = re.compile(' alt="([^"]*)"')
_SHOWN_LATER = re.compile(f"{_FIGURE}([A-Za-z0-9_-]+)\\.svg|<em>{_SLUG}([a-z0-9_]+)</em>")
TABLE_BEGINS, TABLE_ENDS = '<div class="wide" tabindex="0"><table>', "</table></div>\n"
# Cells that a table's short rows lack are added, up to 65,536 by default, which a text of two kilobytes can reach.
vars(import_module("markdown_it.rules_block.table"))["MAX_AUTOCOMPLETED_CELLS"] = 256
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
    """A second-level heading with the text up to the next one. `heading` is None for the text before the first.

    `title` is the element of the heading, or empty, and `body` is the rest.
    """

    heading: Heading | None
    title: Markup
    body: Markup

    @property
    def html(self) -> Markup:
        return self.title + self.body


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


Parsed = dict[str, Any]


def render_markdown(
    text: str, *, anchors: str = "s", figures: str = "", problems: tuple[tuple[str, str], ...] = ()
) -> Prose:
    """Render Markdown that this service came with: nothing bounds the time that another text would take.

    Args:
      text: Markdown. Raw HTML in it is shown as text.
      anchors: prefix of every heading's id, so that no heading can take the id of an element of the page.
      figures, problems: see `prose_of`.
    """
    return prose_of(_remember(text, anchors), figures, dict(problems))


def prose_of(
    parsed: Parsed, figures: str, problems: Mapping[str, str], drawings: Mapping[str, str] = MappingProxyType({})
) -> Prose:
    """What `parse_markdown` returned, for a page.

    Args:
      figures: URL of the folder that relative image paths refer to.
      problems: title of each problem, by slug. `*slug*` becomes a link to one, and stays as it is for any other slug.
      drawings: the text of each figure, by name. One that may becomes part of the page, and the others are images.
    """

    def draw(image: re.Match[str]) -> str:
        svg = inline_figure(drawings.get(f"{image[2]}.svg", ""))
        alt = _ALT.search(image[1])
        return image[0] if svg is None else f'<span role="img" aria-label="{alt[1] if alt else ""}">{svg}</span>'

    def name(place: re.Match[str]) -> str:
        figure, slug = place.groups()
        if figure:
            return f"{figures}/{figure}.svg" if figures else ""
        if slug not in problems:
            return f"<em>{slug}</em>"
        link = Markup('<a href="/problems/{}" rel="noopener noreferrer">{}</a>')
        return link.format(slug, problems[slug])

    def show(html: str) -> Markup:
        return Markup(_SHOWN_LATER.sub(name, _IMAGE.sub(draw, html)))

    return Prose(
        tuple(
            Section(Heading(*heading) if heading else None, show(title), show(body))
            for heading, title, body in parsed["sections"]
        ),
        tuple(Heading(*each) for each in parsed["headings"]),
    )


def plain_prose(text: str) -> Prose:
    """A text that took too long to parse, as it was written."""
    notice = Markup(
        '<p class="notice">This text takes too long to format, so it is shown as it was written.</p>'
        '<pre tabindex="0"><code>{}</code></pre>'
    )
    return Prose((Section(None, Markup(""), notice.format(text)),), ())


def parse_markdown(text: str, anchors: str) -> Parsed:
    """The sections and headings of a text, as JSON. See `render_markdown`."""
    formulas: list[Markup] = []

    def keep(tex: str, options: dict[str, Any]) -> str:
        formulas.append(render_tex(tex, display=bool(options["display_mode"])))
        return f"{_OPEN}{len(formulas) - 1}{_CLOSE}"

    parser = _parser(keep)
    tokens = parser.parse(text)
    _clear_marks(tokens)
    _free_empty_corners(tokens)
    headings = _name_headings(tokens, anchors)
    _mark_figures(tokens)
    _free_figures(tokens)
    _mark_problems(tokens)
    by_anchor = {each[1]: each for each in headings}

    def show(part: Sequence[Token]) -> str:
        clean = nh3.clean(
            parser.renderer.render(part, parser.options, {}),
            tags=_TAGS,
            attributes=_ATTRIBUTES,
            url_schemes={"https", "http", "mailto"},
            link_rel="noopener noreferrer",
        )
        return _PLACE.sub(lambda place: formulas[int(place[1])], clean)

    sections = []
    for part in _cut(tokens):
        heading = by_anchor.get(str(part[0].attrGet("id")))
        # A heading is three tokens: its start, its text and its end.
        begin = 3 if heading else 0
        sections.append([heading, show(part[:begin]), show(part[begin:])])
    return {"sections": sections, "headings": headings}


@lru_cache(maxsize=4096)
def _remember(text: str, anchors: str) -> Parsed:
    return parse_markdown(text, anchors)


def parse_texts(texts: Mapping[str, str]) -> dict[str, Parsed]:
    """Texts by the prefix of their anchors."""
    return {anchors: parse_markdown(text, anchors) for anchors, text in texts.items()}


def _cut(tokens: list[Token]) -> list[list[Token]]:
    """One list for each second-level heading that is not inside anything else, and one for what comes before."""
    start = ("heading_open", "h2", 0)
    starts = (at for at, token in enumerate(tokens) if (token.type, token.tag, token.level) == start)
    return [tokens[start:end] for start, end in pairwise(sorted({0, *starts, len(tokens)}))]


def _clear_marks(tokens: list[Token]) -> None:
    marks = str.maketrans("", "", _OPEN + _CLOSE + _FIGURE + _SLUG)
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
    parser = MarkdownIt("commonmark", {"html": False})
    parser.enable(["table", "strikethrough"])
    parser.use(dollarmath_plugin, allow_labels=False, allow_space=False, double_inline=True, renderer=keep)
    # The default rules add class="language-..." with any text of the author, and wrap maths in a div.
    parser.add_render_rule("fence", _render_fence)
    parser.add_render_rule("table_open", _fixed(TABLE_BEGINS))
    parser.add_render_rule("table_close", _fixed(TABLE_ENDS))
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


def _name_headings(tokens: list[Token], prefix: str) -> list[list[str]]:
    """Give headings an id, and turn `#` into `##`: the page's title is its only first-level heading.

    Returns:
      text and id of each second-level heading.
    """
    headings: list[list[str]] = []
    count: dict[str, int] = {}
    for opening, inline, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opening.type != "heading_open":
            continue
        if opening.tag == "h1":
            opening.tag = closing.tag = "h2"
        if opening.tag not in {"h2", "h3"}:
            continue
        text = "".join(child.content for child in inline.children or [] if child.type in {"text", "code_inline"})
        stem = f"{prefix}-{re.sub(r'[^a-z0-9]+', '-', text.lower()).strip('-') or 'section'}"
        anchor = stem
        while anchor in count:
            count[stem] += 1
            anchor = f"{stem}-{count[stem]}"
        count[anchor] = 1
        opening.attrSet("id", anchor)
        if opening.tag == "h2":
            headings.append([text, anchor])
    return headings


def _mark_figures(tokens: list[Token]) -> None:
    """Mark `figures/x.svg`, and remove any other address: pages load nothing from other sites."""
    for token in (child for parent in tokens for child in parent.children or []):
        if token.type == "image":
            name = re.fullmatch(r"figures/([A-Za-z0-9_-]+\.svg)", str(token.attrGet("src") or ""))
            token.attrSet("src", f"{_FIGURE}{name[1]}" if name else "")


def _free_figures(tokens: list[Token]) -> None:
    """A figure that is alone in its paragraph scrolls by itself, so that a small screen need not shrink its text."""
    for opening, inline, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opening.type == "paragraph_open" and [each.type for each in inline.children or []] == ["image"]:
            opening.tag = closing.tag = "div"
            opening.attrs |= {"class": "wide figure", "tabindex": "0"}


def _mark_problems(tokens: list[Token]) -> None:
    """Mark emphasis of what may be a slug alone. Inside a link it stays emphasis."""
    for parent in tokens:
        children = parent.children or []
        links = 0
        for opening, text, closing in zip(children, children[1:], children[2:], strict=False):
            links += (opening.type == "link_open") - (opening.type == "link_close")
            kinds = (opening.type, text.type, closing.type)
            if kinds == ("em_open", "text", "em_close") and not links and re.fullmatch("[a-z0-9_]+", text.content):
                text.content = _SLUG + text.content
