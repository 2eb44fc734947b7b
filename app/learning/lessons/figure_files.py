"""A lesson's figure as a file of its own, with the styles of the page inside: in light colours, at a fixed width."""

import re
from functools import cache

from app.core.web.static_files import static_file

# As wide as the figures for which tests/lessons/drawing.py is made, at most.
_WIDTH = 720
_TOKEN = re.compile(r"^ +--([\w-]+): (.+);$", re.MULTILINE)
_BY_THEME = re.compile(r"light-dark\(([^,()]+),[^()]+\)")
_RULE = re.compile(r"^\.drawn (?:text|\.)[^{]*\{[^}]*\}", re.MULTILINE)
_ROOT = re.compile(r"<svg\b([^>]*)>")


def standalone(svg: str) -> str:
    """The figure with its styles inside."""

    def root(found: re.Match[str]) -> str:
        height = re.search(r' height="([\d.]+)"', found[1])
        # Without a viewBox, a page that makes the image narrower cuts its lower part off.
        box = f'width="{_WIDTH}" viewBox="0 0 {_WIDTH} {height[1]}"' if height else f'width="{_WIDTH}"'
        attributes = found[1].replace('width="100%"', box)
        return f'<svg{attributes} class="drawn"><style>{_styles()}</style>'

    return _ROOT.sub(root, svg, count=1)


@cache
def _styles() -> str:
    """The rules for figures of lessons.css, with the values that tokens.css gives them."""
    tokens: dict[str, str] = {}
    for name, value in _TOKEN.findall(static_file("core/tokens.css").read_text(encoding="utf-8")):
        # A later one is for paper.
        tokens.setdefault(name, _BY_THEME.sub(r"\1", value))
    rules = _RULE.findall(static_file("learning/lessons.css").read_text(encoding="utf-8"))
    written = "\n".join(["svg { background: var(--page); }", *rules])
    return re.sub(r"var\(--([\w-]+)\)", lambda found: tokens.get(found[1], found[0]), written)
