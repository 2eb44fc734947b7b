"""Let a runner export a submission for one mesh, and check everything in its replies.

A program is exported with the seeds of public cases only. The programs that call it twice and the states of hidden
cases are requested after all exports: compiling needs neither the former nor more than the form of the latter, which is
the same, and output is dropped from the first hidden seed on.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from grader.core.case import Case
from grader.core.chips import Lowering
from grader.core.errors import SubmissionFault
from grader.core.wire import MAX_LEAVES, MAX_PATH, Array
from grader.modes.program.signatures import Signature
from grader.package.package import ProgramSpec
from grader.program.measurement import Leaves
from grader.sandbox.protocol import Session


@dataclass(frozen=True, slots=True)
class States:
    """The leaves of the state for each case of a signature: those of the first cases now, the others later.

    `two_steps` also comes later: the text of a program that calls the step twice, or None if no check reads it.
    """

    first: tuple[Leaves, ...]
    later: Future[tuple[Leaves, ...]]
    two_steps: Future[Array] | None = None


@dataclass(frozen=True, slots=True)
class Export:
    """What a runner exported for one mesh: the program, and the state's leaves for the signature's first cases.

    `for_chips` and `chip_faults` are those of `grader.program.measurement.Artifact`.
    """

    artifact: Array
    init: Array | None
    states: tuple[Leaves, ...]
    outputs: tuple[str, ...]
    for_chips: Mapping[str, Array] = field(default_factory=dict)
    chip_faults: Mapping[str, str] = field(default_factory=dict)


def first_cases(signature: Signature) -> tuple[Case, ...]:
    """The cases with which a program is exported: the public ones, or all if there are none."""
    return tuple(case for case in signature.cases if case.public) or signature.cases


def hidden_cases(signature: Signature) -> tuple[Case, ...]:
    """The cases whose states are requested after all exports."""
    return signature.cases[len(first_cases(signature)) :]


class Programs(Protocol):
    """The part of a manifest that says which programs there are."""

    @property
    def program(self) -> ProgramSpec: ...


def export(
    session: Session,
    manifest: Programs,
    mesh: dict[str, int],
    signature: Signature,
    *,
    lowerings: Sequence[Lowering] = (),
) -> Export:
    """Export the loaded source for one mesh. Raises the errors of `Session.request`.

    As soon as a seed or argument of a hidden case is sent, output is dropped.

    Args:
      lowerings: also export the program as JAX lowers it for these platforms.
    """
    program = manifest.program
    first = first_cases(signature)
    if first and not first[0].public:
        session.seal_output()
    # If the verifier runs `init` itself, one state is enough for the names of its leaves.
    seeded = first[:1] if program.export_init else first
    values = session.export(
        mesh,
        signature.args,
        explicit=program.explicit_axes(mesh),
        init=program.init,
        export_init=program.export_init,
        seeds=[case.inputs["seed"] for case in seeded] if program.init else [],
        lowerings=lowerings,
    )
    match values:
        case {
            "artifact": np.ndarray() as artifact,
            "init": (np.ndarray() | None) as init,
            "states": list(states),
            "outputs": list(outputs),
            "for_chips": dict(for_chips),
            "chip_faults": dict(chip_faults),
        } if (
            artifact.dtype == np.uint8
            and (init is not None) == program.export_init
            and (init is None or init.dtype == np.uint8)
            and len(states) == (len(seeded) if program.init else 1)
            and all(_are_leaves(state) for state in states)
            and _are_paths(outputs)
            and (not program.init or outputs == [*states[0], "loss"])
            and are_for_chips(lowerings, for_chips, chip_faults)
        ):
            _check_states(states[0], states)
            # Without an `init`, no case has a state.
            states = states if program.init else states * len(first)
            return Export(artifact, init, tuple(states), tuple(outputs), for_chips, chip_faults)
    raise _malformed("an export")


def are_for_chips(lowerings: Sequence[Lowering], programs: dict[object, object], faults: dict[object, object]) -> bool:
    """Whether a reply has, for each platform, either a program or a fault."""
    return (
        not programs.keys() & faults.keys()
        and programs.keys() | faults.keys() == set(lowerings)
        and all(isinstance(each, np.ndarray) and each.dtype == np.uint8 for each in programs.values())
        and all(isinstance(each, str) for each in faults.values())
    )


def two_steps_of(session: Session, mesh: dict[str, int], number: int) -> Array:
    """The text of a program that calls an exported one twice. Raises the errors of `Session.request`.

    Args:
      number: the number of the export in its session, from 0, which was for `mesh`.
    """
    both = session.two_steps(number, mesh)
    if not isinstance(both, np.ndarray) or both.dtype != np.uint8:
        raise _malformed("a request for two steps")
    return both


def later_states(
    session: Session,
    manifest: Programs,
    mesh: dict[str, int],
    signature: Signature,
    exported: Export,
    number: int,
) -> tuple[Leaves, ...]:
    """Run `init` with the seeds that `export` left out. Raises the errors of `Session.request`.

    From now on, output is dropped.

    Args:
      number: the number of the export in its session, from 0, which was for `mesh`.
    """
    cases = hidden_cases(signature)
    if not cases or manifest.program.export_init:
        return ()
    if not manifest.program.init:
        return exported.states[:1] * len(cases)
    session.seal_output()
    # Cases that differ only in their other inputs, as neighbours do, share a state.
    seeds = list(dict.fromkeys(case.inputs["seed"] for case in cases))
    states = session.states(number, mesh, seeds)
    if not isinstance(states, list) or len(states) != len(seeds) or not all(map(_are_leaves, states)):
        raise _malformed("a request for states")
    _check_states(exported.states[0], states)
    of_seed = dict(zip(seeds, states, strict=True))
    return tuple(of_seed[case.inputs["seed"]] for case in cases)


def _malformed(request: str) -> SubmissionFault:
    return SubmissionFault(
        "error", f"Something other than the runner answered: the reply to {request} has another form."
    )


def _are_leaves(state: object) -> bool:
    return isinstance(state, dict) and _are_paths(list(state)) and all(map(_is_array, state.values()))


def _is_array(leaf: object) -> bool:
    return isinstance(leaf, np.ndarray)


def _are_paths(names: list[object]) -> bool:
    """Whether our runner can have sent these leaf names: not too many, not too long, each name once."""
    return (
        len(names) <= MAX_LEAVES + 1
        and all(isinstance(name, str) and len(name) <= MAX_PATH for name in names)
        and len(set(names)) == len(names)
    )


def _check_states(usual_state: Leaves, states: Sequence[Leaves]) -> None:
    """Check that one program can take the states of all seeds.

    Raises:
      SubmissionFault: a leaf's name, shape or dtype depends on the seed.
    """
    for state in states:
        if list(state) != list(usual_state):
            raise SubmissionFault("wrong_structure", "`init` returns different leaves for different seeds.")
        for path, leaf in state.items():
            usual = usual_state[path]
            if leaf.shape != usual.shape:
                raise SubmissionFault(
                    "wrong_shape", f"The shape of leaf {path} in the state of `init` depends on the seed."
                )
            if leaf.dtype != usual.dtype:
                raise SubmissionFault(
                    "wrong_dtype", f"The dtype of leaf {path} in the state of `init` depends on the seed."
                )
