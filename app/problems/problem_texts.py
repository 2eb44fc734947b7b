"""The texts of a problem as its readers see them."""

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from app.core.errors import ProblemNotFound
from app.core.web.markdown import Prose
from app.problems.catalogue import Catalogue
from app.problems.rendered_texts import RenderedTexts
from grader.package.package import Package
from grader.package.pitfalls import pitfall_of
from grader.package.variants import like


@dataclass(frozen=True, slots=True)
class MetPitfall:
    """An item of the statement's *Pitfalls*: its number there, from 1, its text, and the address of the section."""

    number: int
    html: Markup
    address: str


class ProblemTexts:
    """Safe to share between requests."""

    def __init__(self, catalogue: Catalogue, texts: RenderedTexts) -> None:
        self._catalogue, self._texts = catalogue, texts

    async def render(self, package: Package, texts: Mapping[str, str]) -> list[Prose]:
        """Texts of the package by the prefix of their anchors, with links to its figures and to other problems."""
        others = {slug: title for slug, title in self._catalogue.titles().items() if slug != package.slug}
        return await self._texts.show(texts, f"/problems/{package.slug}/figures", others, package.figures)

    async def pitfall(self, slug: str, variant: str | None, misconception: str | None) -> MetPitfall | None:
        """The pitfall that explains a misconception, in the statement that is served now."""
        if misconception is None:
            return None
        try:
            package = like(self._catalogue.get(slug), variant)
        except ProblemNotFound:  # withdrawn since
            return None
        found = pitfall_of(package, misconception)
        if found is None:
            return None
        [prose] = await self.render(package, {"pitfall": found.text})
        return MetPitfall(found.number, prose.html, f"/problems/{package.slug}#s-pitfalls")
