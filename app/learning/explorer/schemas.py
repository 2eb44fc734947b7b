"""REST bodies and responses for explorations."""

from typing import Annotated, Self

from pydantic import ConfigDict, Field, model_validator

from app.core.rest.body import RequestBody
from app.core.view import View
from app.grading.attempts.source_rules import Source
from app.learning.explorer.service import Exploration, ExplorationSummary
from grader.core.chips import ChipName
from grader.explorer.exploration import Explored
from grader.inputs.explored_function import Function


class NewExplorationJSON(RequestBody):
    """A source for a program-mode `problem`, or one that defines a `function` to compile. With `against`, the result
    also says how it differs from that source.
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


class ExplorationJSON(ExplorationSummary):
    """An exploration. `result` is null until it has finished; it then has a program for each mesh, or a fault.

    `phase` says what a running one is doing; null while that is not known.
    """

    is_mine: bool
    source: str
    against: str | None
    phase: str | None
    result: Explored | None

    @classmethod
    def of_whole(cls, exploration: Exploration) -> "ExplorationJSON":
        return cls(
            **exploration.summary.model_dump(),
            is_mine=exploration.is_mine,
            source=exploration.source,
            against=exploration.against,
            phase=exploration.phase,
            result=exploration.result,
        )


class ExplorationPage(View):
    """Newest first. For the next page, send `next` as `before`. It is null on the last page."""

    explorations: list[ExplorationSummary]
    next: str | None
