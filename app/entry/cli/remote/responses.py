"""The parts of a server's responses that commands read. Unknown members are allowed: the server may be newer."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints

from app.grading.queue.status import ENDED, AttemptStatus

# Becomes part of paths, both here and on the server, so it is checked.
SLUG = r"^[a-z][a-z0-9_]{1,63}$"
Slug = Annotated[str, StringConstraints(pattern=SLUG)]

Version = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")


class Me(_Answer):
    name: str
    role: str


class ProblemLine(_Answer):
    slug: Slug
    title: str
    track: str
    difficulty: str


class Problems(_Answer):
    problems: list[ProblemLine]


class GradedCheck(_Answer):
    title: str
    points: int
    sentences: list[str]
    bounds: list[str]


class ProblemVariant(_Answer):
    name: str


class Problem(_Answer):
    slug: Slug
    title: str
    statement: str
    starter: str
    helpers: dict[str, str] = {}
    variant: ProblemVariant | None = None
    mode: str = "call"
    grading: list[GradedCheck]


class Question(_Answer):
    question: str


class Upload(_Answer):
    problem: Slug
    version: str
    published: bool


class StoredVersion(_Answer):
    version: Version
    published: bool


class Versions(_Answer):
    versions: list[StoredVersion]


class ValidationStep(_Answer):
    file: str
    passed: bool
    message: str


class Validation(_Answer):
    id: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
    status: str
    passed: bool | None
    total: int
    steps: list[ValidationStep]


class Publication(_Answer):
    version: str
    forced: bool
    attempts_at_other_versions: int


Id = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]


class Repository(_Answer):
    id: Id
    address: str
    branch: str
    folder: str


class Repositories(_Answer):
    repositories: list[Repository]


class RepositoryMade(Repository):
    webhook_path: str
    webhook_secret: str


class SyncError(_Answer):
    rule: str
    file: str
    line: int | None
    message: str


class SyncedProblem(_Answer):
    folder: str
    problem: str | None
    outcome: str
    version: str | None
    errors: list[SyncError]
    more_errors: int


class Sync(_Answer):
    id: Id
    status: str
    fault: str | None
    problems: list[SyncedProblem]


class Hints(_Answer):
    problem: Slug
    hints: list[str]


class Editorial(_Answer):
    editorial: str


class ProblemProgress(_Answer):
    problem: str
    best_score: int | None


class Progress(_Answer):
    problems: list[ProblemProgress]


class QueuePlace(_Answer):
    model_config = ConfigDict(extra="allow")

    ahead: int
    expected_wait_s: int | None
    workers: int


class AttemptState(_Answer):
    status: AttemptStatus
    phase: str | None
    queue: QueuePlace | None = None


class MetPitfall(_Answer):
    model_config = ConfigDict(extra="allow")

    text: str


class Attempt(AttemptState):
    """`model_dump` returns everything that the server sent."""

    model_config = ConfigDict(extra="allow")

    id: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
    problem: str
    kind: str
    verdict: dict[str, Any] | None
    pitfall: MetPitfall | None = None
    withheld_until: Annotated[str, StringConstraints(pattern=r"^[0-9T:.Z+-]{19,40}$")] | None = None

    @property
    def ended(self) -> bool:
        return self.status in ENDED


class Exploration(_Answer):
    id: Id
