"""The closed list of reasons for a rejection, and facts about each.

A new reason is an entry here and its explanation in app/presentation/reasons.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Reason = Literal[
    "syntax_error",
    "missing_entry",
    "error",
    "wrong_value",
    "wrong_shape",
    "wrong_dtype",
    "wrong_structure",
    "lost_precision",
    "wrong_sharding",
    "wrong_communication",
    "too_much_memory",
    "too_much_compute",
    "program_too_large",
    "not_donated",
    "retraced",
    "not_exportable",
    "divergent_collective",
    "time_limit",
    "memory_limit",
    "output_limit",
    "killed",
]
# The judge is everything outside the runner and the verifier: it reads clocks, exit codes and facts.
Reporter = Literal["runner", "verifier", "judge"]


@dataclass(frozen=True, slots=True)
class ReasonFacts:
    """What is true of every submission that is rejected for this reason.

    Attributes:
      reported_by: the processes that may report it. A report of it by any other process is not trusted.
      has_program: the submission has a compiled program or, in call mode, a result.
      wrong_result: its result differs from the reference's, and so identifies the mistake.
      process_lives: in call mode, the runner can still run the next case.
      needs_activity: the message does not say what a verifier was doing, so the judge adds it.
      in_hidden_case: the whole message for a hidden case. If empty, the message names the type of the exception.
    """

    reported_by: frozenset[Reporter]
    has_program: bool = False
    wrong_result: bool = False
    process_lives: bool = False
    needs_activity: bool = False
    in_hidden_case: str = ""


_RUNNER: frozenset[Reporter] = frozenset({"runner"})
_VERIFIER: frozenset[Reporter] = frozenset({"verifier"})
_JUDGE: frozenset[Reporter] = frozenset({"judge"})
_ALL = _RUNNER | _VERIFIER | _JUDGE

REASONS: Mapping[Reason, ReasonFacts] = MappingProxyType(
    {
        "syntax_error": ReasonFacts(_RUNNER),
        "missing_entry": ReasonFacts(_RUNNER, process_lives=True),
        "error": ReasonFacts(_ALL, process_lives=True, needs_activity=True),
        "wrong_value": ReasonFacts(_JUDGE, has_program=True, wrong_result=True),
        "wrong_shape": ReasonFacts(_JUDGE, has_program=True, wrong_result=True),
        "wrong_dtype": ReasonFacts(_RUNNER | _JUDGE, has_program=True, wrong_result=True),
        "wrong_structure": ReasonFacts(_RUNNER | _JUDGE, has_program=True, wrong_result=True),
        "lost_precision": ReasonFacts(_JUDGE, has_program=True),
        "wrong_sharding": ReasonFacts(_VERIFIER | _JUDGE, has_program=True),
        "wrong_communication": ReasonFacts(_JUDGE, has_program=True),
        "too_much_memory": ReasonFacts(_JUDGE, has_program=True),
        "too_much_compute": ReasonFacts(_JUDGE, has_program=True),
        "program_too_large": ReasonFacts(_JUDGE, has_program=True),
        "not_donated": ReasonFacts(_JUDGE, has_program=True),
        "retraced": ReasonFacts(_JUDGE, has_program=True),
        "not_exportable": ReasonFacts(_ALL),
        "divergent_collective": ReasonFacts(
            _VERIFIER | _JUDGE, needs_activity=True, in_hidden_case="Not all devices reached the same collective."
        ),
        "time_limit": ReasonFacts(_JUDGE, needs_activity=True, in_hidden_case="Your code exceeded the time limit."),
        "memory_limit": ReasonFacts(_ALL, needs_activity=True, in_hidden_case="Your code exceeded the memory limit."),
        "output_limit": ReasonFacts(
            _ALL, needs_activity=True, in_hidden_case="Your code returned or printed too much."
        ),
        "killed": ReasonFacts(_JUDGE, in_hidden_case="The process that ran your code ended before it returned."),
    }
)


def reported(name: str, by: Reporter) -> Reason | None:
    """The reason of this name, or None if this process must not report it."""
    return next((reason for reason, facts in REASONS.items() if reason == name and by in facts.reported_by), None)
