"""The reference's answers, in memory and on disk."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from grader.checks.call_outcome import Answer
from grader.core.case import Case
from grader.modes import reference_cache


@dataclass(frozen=True, slots=True)
class CallPrepared:
    """The cases, public ones first, and the reference's result for each, by case id."""

    cases: tuple[Case, ...]
    answers: dict[str, Answer]


def answer_of(values: dict[str, object]) -> Answer:
    """Read a reply to `call`. Records that do not have the spies' form are dropped."""
    observed = values.get("observed")
    events = [event for event in observed if _is_event(event)] if isinstance(observed, list) else []
    return Answer(values.get("result"), events)


def _is_event(event: object) -> bool:
    """Whether a record has the form of an event of grader/runner/observe.py. A submission can send anything."""
    match event:
        case {
            "event": str(),
            "tx": str(),
            "momentum": bool(),
            "wrt": str(),
            "lr": (float() | None),
            "gradients": dict(gradients),
            "updates": dict(updates),
            "model": str(),
        }:
            return all(isinstance(leaf, np.ndarray) for leaf in (*gradients.values(), *updates.values()))
    return False


def store(folder: Path, prepared: CallPrepared) -> None:
    answers: dict[str, dict[str, object]] = {
        case_id: {"result": answer.result, "observed": answer.observed} for case_id, answer in prepared.answers.items()
    }
    reference_cache.store_cases(folder, prepared.cases, answers)


def load(folder: Path) -> CallPrepared | None:
    """Read what `store` wrote; None if it is missing or incomplete."""
    try:
        cases, values_of, _ = reference_cache.load_cases(folder)
    except reference_cache.UNREADABLE:
        return None
    return CallPrepared(cases, {case_id: answer_of(values) for case_id, values in values_of.items()})
