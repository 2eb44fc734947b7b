"""REST responses of completed tracks."""

from datetime import datetime

from app.core.view import View
from app.learning.completions.verified import Verified, VerifiedProblem


class VerifiedProblemJSON(View):
    """A solved problem. `meshes` are those for which its program was compiled, as sizes by axis."""

    slug: str
    title: str
    outcome: str | None
    version: str
    meshes: list[dict[str, int]]
    score: int
    efficiency: float | None
    solved_at: datetime

    @classmethod
    def of_problem(cls, problem: VerifiedProblem) -> "VerifiedProblemJSON":
        return cls(**problem.model_dump() | {"meshes": list(problem.meshes)})


class CompletionJSON(View):
    """What you solved in one track. `left` are the slugs of the others; `devices` the sizes of all meshes."""

    track: str
    title: str
    complete: bool
    words: str
    devices: list[int]
    problems: list[VerifiedProblemJSON]
    left: list[str]
    shared_at: datetime | None

    @classmethod
    def of_verified(cls, verified: Verified, shared_at: datetime | None) -> "CompletionJSON":
        return cls.read_from(
            verified,
            complete=verified.is_complete,
            left=list(verified.left),
            problems=[VerifiedProblemJSON.of_problem(each) for each in verified.problems],
            shared_at=shared_at,
        )


class SharedCompletion(View):
    """The page that anyone can read, and the badge: an Open Badge 3.0, signed as a JSON Web Token."""

    link: str
    badge: str
