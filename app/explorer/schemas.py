"""REST bodies and responses for explorations."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.attempts.source import Source
from app.explorer.service import Exploration, ExplorationStatus, ExplorationSummary
from grader.chips import ChipName
from grader.explore import Explored
from grader.function import Function

_SUMMARY: dict[str, Any] = {
    "id": "7d0b4a869c6e0a2c3f0f6a015d0f7a64",
    "problem": "fsdp_shard_map_step",
    "version": "9f2c1e7d5b3a4c6e8d0f1a2b3c4d5e6f7a8b9c0d9f2c1e7d5b3a4c6e8d0f1a2b",
    "function": None,
    "chip": None,
    "status": "finished",
    "is_comparison": False,
    "has_fault": True,
    "created_at": "2026-01-05T09:30:00.000000Z",
    "finished_at": "2026-01-05T09:30:02.000000Z",
    "shared_at": None,
}
_EXPLORATION = _SUMMARY | {
    "is_mine": True,
    "source": "def step(state, x, y):\n    return state, missing\n",
    "against": None,
    "phase": None,
    "result": {
        "schema_version": 1,
        "programs": [],
        "against": [],
        "differences": [],
        "fault": {
            "of": "source",
            "reason": "missing_entry",
            "message": "The source defines no function `init`.",
            "line": None,
        },
    },
}


class NewExplorationJSON(BaseModel):
    """A source for a `problem` of mode program, or one that defines a `function` to compile. With `against`, the result
    also says how it differs from that source.
    """

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        json_schema_extra={
            "examples": [
                {"problem": "fsdp_shard_map_step", "source": "import jax\n\ndef init(seed, mesh): ...\n"},
                {
                    "function": {
                        "name": "f",
                        "mesh": {"data": 4, "model": 2},
                        "inputs": [
                            {"name": "x", "dtype": "float32", "shape": [1024, 512], "spec": ["data"]},
                            {"name": "w", "dtype": "float32", "shape": [512, 2048], "spec": ["", "model"]},
                        ],
                    },
                    "source": "def f(x, w):\n    return x @ w\n",
                },
            ],
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
    chip: Annotated[ChipName | None, Field(description="Compile it for a slice of these TPUs as well")] = None

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


class ExplorationSummaryJSON(BaseModel):
    """An entry of the list. `has_fault` is null until it has finished. `shared_at` is null unless it is shared.

    `problem` and `version` are null if a `function` was explored.
    """

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_SUMMARY]})

    id: str
    problem: str | None
    version: str | None
    function: Function | None
    chip: ChipName | None
    status: ExplorationStatus
    is_comparison: bool
    has_fault: bool | None
    created_at: datetime
    finished_at: datetime | None
    shared_at: datetime | None

    @classmethod
    def of(cls, summary: ExplorationSummary) -> "ExplorationSummaryJSON":
        return cls(**{name: getattr(summary, name) for name in cls.model_fields})


class ExplorationJSON(ExplorationSummaryJSON):
    """An exploration. `result` is null until it has finished; it then has a program for each mesh, or a fault.

    `phase` says what a running one is doing; null while that is not known.
    """

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_EXPLORATION]})

    is_mine: bool
    source: str
    against: str | None
    phase: str | None
    result: Explored | None

    @classmethod
    def of_whole(cls, exploration: Exploration) -> "ExplorationJSON":
        return cls(
            **ExplorationSummaryJSON.of(exploration.summary).model_dump(),
            is_mine=exploration.is_mine,
            source=exploration.source,
            against=exploration.against,
            phase=exploration.phase,
            result=exploration.result,
        )


class ExplorationPage(BaseModel):
    """Newest first. For the next page, send `next` as `before`. It is null on the last page."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"explorations": [_SUMMARY], "next": None}]}
    )

    explorations: list[ExplorationSummaryJSON]
    next: str | None
