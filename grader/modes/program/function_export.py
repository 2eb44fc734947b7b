"""Let a runner export a function that belongs to no problem, and check everything in its reply."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.core.chips import Chip, Lowering
from grader.core.errors import SubmissionFault
from grader.core.item_sizes import LEAF_DTYPES
from grader.core.wire import MAX_PATH, MAX_RANK, ArrayForm
from grader.inputs.explored_function import Function, arguments_of
from grader.modes.program.export import are_for_chips
from grader.program.jaxpr_listing import list_jaxpr
from grader.program.listing import Listing
from grader.program.measurement import Artifact, Observed
from grader.sandbox.protocol import Session

# The CUDA compute capability that JAX finds while it traces if no GPU is chosen, that of an H100.
_USUAL_CAPABILITY = 9
_MAX_LEAVES = 2048
_MAX_REMARKS = 20
_LONGEST_REMARK = 1000
_MAX_OPTIONS, _LONGEST_OPTION = 100, 200
_FORM = re.compile(r"([a-z0-9_<>]{1,40})\[((?:\d{1,12}(?:,\d{1,12})*)?)\]", re.ASCII)


@dataclass(frozen=True, slots=True)
class FunctionExport:
    """What a runner exported: the program, and the names of its leaves, the donated ones first.

    For `raw`, see `grader.modes.program.verify.compiled_and_read`. `remarks` says where the program differs from its
    source. If only chips can run it, `only_for_chips` says why. `compiler_options` has the name and the value of each
    option that a `jit` in it gives, unchecked.
    """

    artifact: Artifact
    inputs: tuple[str, ...]
    raw: dict[str, Any]
    observed: Observed
    remarks: tuple[str, ...]
    jaxpr: Listing
    only_for_chips: str = ""
    compiler_options: tuple[tuple[str, str], ...] = ()


def export_function(
    session: Session, function: Function, *, of_problem: bool = False, chip: Chip | None = None
) -> FunctionExport:
    """Export a loaded function on its mesh. Raises the errors of `Session.request`.

    Args:
      chip: also export the program as JAX lowers it for this chip.
      of_problem: pass the mesh as the first argument, whatever its name, and ignore the function's own `jit`.
    """
    lowerings: list[Lowering] = [] if chip is None else [chip.lowering]
    gpu = None if chip is None else chip.gpu
    values = session.export_function(
        function.mesh,
        arguments_of(function),
        explicit=function.explicit,
        init=function.init,
        of_problem=of_problem,
        lowerings=lowerings,
        capability=_USUAL_CAPABILITY if gpu is None else gpu.capability,
    )
    match values:
        case {
            "artifact": np.ndarray() as program,
            "inputs": list(names),
            "forms": list(texts),
            "donated": int(donated),
            "outputs": list(outputs),
            "primitives": dict(primitives),
            "retraced": bool(retraced),
            "remarks": list(remarks),
            "for_chips": dict(for_chips),
            "chip_faults": dict(chip_faults),
            "only_for_chips": str(only_for_chips),
            "compiler_options": list(options),
            "jaxpr": np.ndarray() as jaxpr,
        } if (
            program.dtype == jaxpr.dtype == np.uint8
            and _are_names(names)
            and _are_names(outputs)
            and len(texts) == len(names)
            and 0 <= donated <= len(names)
            and all(type(number) is int for number in primitives.values())
            and all(isinstance(each, str) for each in remarks)
            and are_for_chips(lowerings, for_chips, chip_faults)
            and not (only_for_chips and not for_chips)
            and len(options) <= _MAX_OPTIONS
            and all(_is_option(each) for each in options)
        ):
            forms = tuple(_form(name, each) for name, each in zip(names, texts, strict=True))
            raw = {"init": None, "outputs": outputs, "state": names[:donated]}
            return FunctionExport(
                Artifact(program, forms, donated, for_chips=for_chips, chip_faults=chip_faults),
                tuple(names[donated:]),
                raw,
                Observed(primitives, retraced),
                tuple(each[:_LONGEST_REMARK] for each in remarks[:_MAX_REMARKS]),
                list_jaxpr(jaxpr.tobytes().decode("utf-8", "replace")),
                only_for_chips[:_LONGEST_REMARK],
                tuple((name, value) for name, value in options),
            )
    raise _malformed()


def _form(name: str, text: object) -> ArrayForm:
    match = _FORM.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise _malformed()
    if match[1] not in LEAF_DTYPES:
        raise SubmissionFault(
            "not_exportable",
            f"{name} has the dtype {match[1]}, which cannot be explored. Use one such as float32, bfloat16 or int4.",
        )
    shape = [int(each) for each in match[2].split(",") if each]
    if len(shape) > MAX_RANK:
        raise _malformed()
    return {"shape": shape, "dtype": match[1]}


def _is_option(found: object) -> bool:
    return (
        isinstance(found, list)
        and len(found) == 2
        and all(isinstance(each, str) and len(each) <= _LONGEST_OPTION for each in found)
    )


def _are_names(names: list[object]) -> bool:
    return (
        len(names) <= _MAX_LEAVES
        and all(isinstance(name, str) and len(name) <= MAX_PATH for name in names)
        and len(set(names)) == len(names)
    )


def _malformed() -> SubmissionFault:
    return SubmissionFault(
        "error", "Something other than the runner answered: the reply to an export has another form."
    )
