"""The texts of a problem as its readers see them."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from app.core.errors import ProblemNotFound
from app.core.view import View
from app.core.web.markdown import Prose
from app.problems.catalogue import Catalogue
from app.problems.rendered_texts import RenderedTexts
from grader.package.package import Package
from grader.package.pitfalls import pitfall_of
from grader.package.variants import like

# A problem has four texts at most.
_MOST_SHOWN = 512


class MetPitfall(View):
    """An item of the statement's *Pitfalls* that explains a verdict's misconception: its `number` there, from 1, its
    `text` in Markdown, and the path of the section on the problem's `page`.
    """

    number: int
    text: str
    page: str


@dataclass(frozen=True, slots=True)
class ShownPitfall:
    """A pitfall on a page, with its text as HTML."""

    number: int
    html: Markup
    address: str


def met_pitfall(catalogue: Catalogue, slug: str, variant: str | None, misconception: str | None) -> MetPitfall | None:
    """The pitfall that explains a misconception, in the statement that is served now."""
    if misconception is None:
        return None
    try:
        package = like(catalogue.get(slug), variant)
    except ProblemNotFound:  # withdrawn since
        return None
    found = pitfall_of(package, misconception)
    page = f"/problems/{package.slug}#s-pitfalls"
    return None if found is None else MetPitfall(number=found.number, text=found.text, page=page)


class ProblemTexts:
    """Safe to share between requests."""

    def __init__(self, catalogue: Catalogue, texts: RenderedTexts) -> None:
        self._catalogue, self._texts = catalogue, texts
        self._shown: dict[Hashable, list[Prose]] = {}

    async def render(self, package: Package, texts: Mapping[str, str]) -> list[Prose]:
        """Texts of the package by the prefix of their anchors, with links to its figures and to other problems."""
        key = package.version, self._catalogue.seen, tuple(texts.items())
        shown = self._shown.pop(key, None)
        if shown is None:
            others = {slug: title for slug, title in self._catalogue.titles().items() if slug != package.slug}
            shown = await self._texts.show(texts, f"/problems/{package.slug}/figures", others, package.figures)
            if len(self._shown) >= _MOST_SHOWN:
                # The one that was not used for the longest time.
                self._shown.pop(next(iter(self._shown)))
        self._shown[key] = shown
        return shown

    async def pitfall(self, slug: str, variant: str | None, met: MetPitfall | None) -> ShownPitfall | None:
        """The pitfall of a verdict at this problem as its page shows it."""
        if met is None:
            return None
        [prose] = await self.render(like(self._catalogue.get(slug), variant), {"pitfall": met.text})
        return ShownPitfall(met.number, prose.html, met.page)
