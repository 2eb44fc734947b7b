"""Has a runner export a submission for one mesh, and takes nothing in its reply on trust."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.errors import SubmissionFault
from grader.modes.program.signatures import Signature
from grader.package.package import ProgramManifest
from grader.program.measured import Leaves
from grader.sandbox.protocol import Session
from grader.wire import MAX_LEAVES, MAX_PATH


@dataclass(frozen=True, slots=True)
class Export:
    """What a runner gave for one mesh: the program, and the leaves of the state for each case."""

    artifact: np.ndarray[Any, Any]
    init: np.ndarray[Any, Any] | None
    states: tuple[Leaves, ...]
    outputs: tuple[str, ...]
    primitives: dict[str, int]
    retraced: bool


def export(session: Session, manifest: ProgramManifest, mesh: dict[str, int], signature: Signature) -> Export:
    """Have the loaded source exported for one mesh. Raises what `Session.request` raises.

    From the first seed or argument of a hidden case on, nothing of what is printed is kept.
    """
    program = manifest.program
    public = [case for case in signature.cases if case.public]
    first = public or signature.cases
    if not public:
        session.seal_output()
    values = session.export(
        mesh,
        signature.args,
        init=program.init,
        export_init=program.export_init,
        seeds=[case.inputs["seed"] for case in first] if program.init else [],
    )
    states = values.get("states")
    if program.init and len(first) < len(signature.cases):
        session.seal_output()
        seeds = [case.inputs["seed"] for case in signature.cases[len(first) :]]
        states = [*_list(states), *_list(session.states(seeds))]
    match {**values, "states": states}:
        case {
            "artifact": np.ndarray() as artifact,
            "init": (np.ndarray() | None) as init,
            "states": list(states),
            "outputs": list(outputs),
            "primitives": dict(primitives),
            "retraced": bool(retraced),
        } if (
            artifact.dtype == np.uint8
            and (init is not None) == program.export_init
            and (init is None or init.dtype == np.uint8)
            and len(states) == (len(signature.cases) if program.init else 1)
            and all(_are_leaves(state) for state in states)
            and _are_paths(outputs)
            and (not program.init or outputs == [*states[0], "loss"])
            and all(type(number) is int for number in primitives.values())
        ):
            _check_states(states)
            # Without an `init` there is no state, in any case.
            states = states if program.init else states * len(signature.cases)
            return Export(artifact, init, tuple(states), tuple(outputs), primitives, retraced)
    raise SubmissionFault("error", "Something other than the runner answered: the reply to an export has another form.")


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _are_leaves(state: object) -> bool:
    return isinstance(state, dict) and _are_paths(list(state)) and all(map(_is_array, state.values()))


def _is_array(leaf: object) -> bool:
    return isinstance(leaf, np.ndarray)


def _are_paths(names: list[object]) -> bool:
    """As our runner names leaves: so many at most, so long at most, each name once."""
    return (
        len(names) <= MAX_LEAVES + 1
        and all(isinstance(name, str) and len(name) <= MAX_PATH for name in names)
        and len(set(names)) == len(names)
    )


def _check_states(states: Sequence[Leaves]) -> None:
    """One program takes them all.

    Raises:
      SubmissionFault: a leaf's name, shape or dtype depends on the seed.
    """
    for state in states:
        if list(state) != list(states[0]):
            raise SubmissionFault("wrong_structure", "`init` returns different leaves for different seeds.")
        for path, leaf in state.items():
            usual = states[0][path]
            if leaf.shape != usual.shape:
                raise SubmissionFault(
                    "wrong_shape", f"`init` gives leaf {path} another shape for one seed than for another."
                )
            if leaf.dtype != usual.dtype:
                raise SubmissionFault(
                    "wrong_dtype", f"`init` gives leaf {path} another dtype for one seed than for another."
                )
