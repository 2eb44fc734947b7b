"""REST bodies and responses for explorations."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from pydantic import ConfigDict, Field, model_validator

from app.core.rest.body import RequestBody
from app.core.view import View
from app.grading.attempts.source_rules import Source
from app.grading.queue.status import JobStatus
from app.learning.explorer.models import ExplorationRow
from grader.core.chips import ChipName
from grader.core.xla_options import MAX_VALUE, OPTIONS
from grader.explorer.exploration import Explored
from grader.inputs.explored_function import Function

# Options of XLA by name. Their values are texts, as in `XLA_FLAGS`.
XLAOptions = Annotated[
    dict[str, Annotated[str, Field(max_length=MAX_VALUE)]],
    Field(
        max_length=len(OPTIONS),
        description="Options of XLA with which it is compiled for a GPU; values are texts, as in XLA_FLAGS",
        json_schema_extra={"propertyNames": {"enum": sorted(OPTIONS)}},
    ),
]


class NewExplorationJSON(RequestBody):
    """A source for a program-mode `problem`, or one that defines a `function` to compile. With `against`, the result
    also says how it differs from that source. That one has the same `xla_options` unless `against_xla_options` are
    sent.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {
                    "required": [name],
                    "properties": {
                        name: {"type": kind},
                        other: {"type": "null"},
                        "source": {},
                        "against": {},
                        "chip": {},
                        "xla_options": {},
                        "against_xla_options": {},
                    },
                    "additionalProperties": False,
                }
                for name, kind, other in (("problem", "string", "function"), ("function", "object", "problem"))
            ],
        },
    )

    problem: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    function: Function | None = None
    source: Source
    against: Source | None = None
    chip: Annotated[ChipName | None, Field(description="Also compile it for a slice of these chips")] = None
    xla_options: XLAOptions = Field(default_factory=dict)
    against_xla_options: XLAOptions | None = None

    @model_validator(mode="after")
    def _has_one_subject(self) -> Self:
        if (self.problem is None) == (self.function is None):
            raise ValueError("send either problem or function")
        return self

    @property
    def subject(self) -> str | Function:
        subject = self.problem or self.function
        assert subject is not None
        return subject


class ExplorationSummary(View):
    """An entry of the list. `has_fault` is null until it has finished. `shared_at` is null unless it is shared.

    `problem` and `version` are null if a `function` was explored. In a list, a function is without its modules.
    """

    id: str
    problem: str | None
    version: str | None
    function: Function | None
    chip: ChipName | None
    status: JobStatus
    is_comparison: bool
    has_fault: bool | None
    created_at: datetime
    finished_at: datetime | None
    shared_at: datetime | None

    @classmethod
    def in_list(cls, row: ExplorationRow) -> Self:
        """Without the sources of modules, which can have 64 KiB each time."""
        return cls.of(row).without_modules()

    def without_modules(self) -> Self:
        if self.function is None:
            return self
        return self.model_copy(update={"function": self.function.model_copy(update={"modules": {}})})


class ExplorationJSON(ExplorationSummary):
    """An exploration. `result` is null until it has finished; it then has a program for each mesh, or a fault.

    `phase` says what a running one is doing; null while that is not known. `partial_result` has what a running one has
    found so far, which is the program for the first mesh, and not yet the one for the chip. It is null at first, and
    once the exploration has finished.
    """

    is_mine: bool
    source: str
    against: str | None
    xla_options: dict[str, str] | None
    against_xla_options: dict[str, str] | None
    phase: str | None
    result: Explored | None
    partial_result: Explored | None

    @property
    def summary(self) -> ExplorationSummary:
        """The same without sources and result, as in a list."""
        return ExplorationSummary.read_from(self).without_modules()


@dataclass(frozen=True, slots=True)
class RequestedExploration:
    """What was just requested. If it was explored before, `stored_result` has its result, which `exploration` lacks.

    That is JSON as it was stored. Reading and validating it takes as long as the rest of a request.
    """

    exploration: ExplorationJSON
    stored_result: str | None

    @property
    def id(self) -> str:
        return self.exploration.id

    def as_json(self) -> str:
        """An `ExplorationJSON` with the result, as JSON."""
        rest = self.exploration.model_dump_json(exclude={"result"})
        return f'{rest[:-1]},"result":{self.stored_result or "null"}}}'


class ExplorationPage(View):
    """Newest first. For the next page, send `next` as `before`. It is null on the last page."""

    explorations: list[ExplorationSummary]
    next: str | None
