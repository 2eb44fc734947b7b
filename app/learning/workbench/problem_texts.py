"""The texts of a problem as its readers see them."""

from collections.abc import Mapping

from app.core.web.markdown import Prose
from app.problems.catalogue import Catalogue
from app.problems.rendered_texts import RenderedTexts
from grader.package.package import Package


class ProblemTexts:
    """Safe to share between requests."""

    def __init__(self, catalogue: Catalogue, texts: RenderedTexts) -> None:
        self._catalogue, self._texts = catalogue, texts

    async def render(self, package: Package, texts: Mapping[str, str]) -> list[Prose]:
        """Texts of the package by the prefix of their anchors, with links to its figures and to other problems."""
        others = {slug: title for slug, title in self._catalogue.titles().items() if slug != package.slug}
        return await self._texts.show(texts, f"/problems/{package.slug}/figures", others, package.figures)
