"""How a problem is graded, as students read it: on its page, over REST, and in the files that `pull` writes."""

from pydantic import BaseModel, ConfigDict

from grader import checks
from grader.package.package import Manifest


class GradedCheck(BaseModel):
    """One check of a problem, in Markdown. A sentence continues "You pass if …"; `bounds` are exact and complete."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    title: str
    points: int
    sentences: tuple[str, ...]
    bounds: tuple[str, ...]


def grading_of(manifest: Manifest) -> tuple[GradedCheck, ...]:
    """Describe every check of a manifest, with its bounds in words."""
    graded = []
    for spec in manifest.checks:
        check = checks.load(manifest.mode, spec.id)
        words = check.describe(spec.bounds, manifest)
        graded.append(
            GradedCheck(
                id=spec.id,
                title=spec.title or check.TITLE,
                points=spec.points,
                sentences=(spec.means,) if spec.means else words.sentences,
                bounds=words.bounds,
            )
        )
    return tuple(graded)
