"""Export a function that belongs to no problem, in the way in which its author calls it.

It is called with the state that `init` returns, if there is one, and with abstract arrays. What the author's own
`jax.jit` says (donation, shardings, static arguments) counts, because the program of that `jit` is the one that runs.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from jax.sharding import Mesh, NamedSharding

from grader.confined import private_jax
from grader.confined.request_loop import Fields
from grader.core.wire import Argument
from grader.runner.own_meshes import OwnMesh, on_own_mesh, remarks_on_meshes
from grader.runner.submission import Submission, SubmissionFailed, from_its_line
from grader.runner.tracing import (
    REFUSALS,
    ForChips,
    arguments_of,
    aval_of,
    input_avals,
    lowered_for,
    make_mesh,
    primitives_of,
    serialize,
    spec_text,
    walk,
)
from grader.runner.tree import Tree
from grader.runner.unexportable import ONLY_CUDNN

_MAX_LEAVES = 1024
_MOST_PRINTED_EQUATIONS = 5_000
_MOST_PRINTED = 1 << 20
_MOST_OPTIONS, _LONGEST = 100, 200
# Words in the message about something that CPUs do not have, and the platforms that may have it.
_ONLY_ON = {"Pallas": ("tpu", "cuda"), "which only GPUs have": ("cuda",)}
_A = {"tpu": "a TPU", "cuda": "a GPU"}
# A larger state would not fit into a runner's memory if every device held all of it.
_MAX_EAGER_BYTES = 1 << 29


@dataclass(frozen=True, slots=True)
class ExportedFunction:
    """A program with its leaves in order: `inputs` maps a name to its abstract array, the first `donated` of them are
    donated. `remarks` says where the program differs from the source, and `jaxpr` is what was traced, with the line of
    each equation. If the program is not for CPUs, `only_for_chips` says why, and there is only the one `for_chips`.
    `compiler_options` has the name and the value of each option that a `jit` in the program gives.
    """

    artifact: bytes
    inputs: dict[str, jax.ShapeDtypeStruct]
    donated: int
    outputs: list[str]
    primitives: dict[str, int]
    retraced: bool
    remarks: list[str]
    jaxpr: str
    for_chips: ForChips
    only_for_chips: str = ""
    compiler_options: list[list[str]] = field(default_factory=list)


def export_function(submission: Submission, request: Fields, own: Sequence[OwnMesh] = ()) -> ExportedFunction:
    """Export the entry point for one mesh. If it needs Explicit axes, or its source makes such a mesh, it has them.

    Args:
      request: `mesh` (axis to size); `explicit` (its Explicit axes; if empty, the source decides); `init` (a name or
        None); `args`, each `{"static": value, "path"}` or `{"shape", "dtype", "spec", "path"}`; `lowerings`
        (platforms of chips, for which the program is exported as well); `capability` (the first number of the CUDA
        compute capability of the GPU that was chosen); and `of_problem` (pass the mesh as the first argument, whatever
        its name, and ignore the entry point's own `jit`).
      own: the meshes that the source has made. It grows while the source runs.
    Raises:
      SubmissionFailed: `error`, `missing_entry`, `wrong_structure` or `not_exportable`, with the source's line.
    """
    asked = make_mesh(request["mesh"], request["explicit"])
    fixed = bool(request["explicit"])

    def export(mesh: Mesh) -> ExportedFunction:
        try:
            exported = _export_on(submission, request, mesh)
        except SubmissionFailed as fault:
            if ONLY_CUDNN not in fault.message:
                raise
            # JAX traces the attention of cuDNN only beside a GPU, and the program is then for GPUs alone.
            with private_jax.beside_a_gpu(request["capability"]):
                exported = _export_on(submission, request, mesh)
        return replace(exported, remarks=[*remarks_on_meshes(asked, mesh, own), *exported.remarks])

    try:
        return on_own_mesh(asked, own, export, fixed=fixed)
    except SubmissionFailed as fault:
        # JAX's message about `out_sharding=` and `jax.reshard` on Auto axes.
        if fixed or "type Auto" not in fault.message:
            raise
        try:
            return export(make_mesh(request["mesh"], list(request["mesh"])))
        except SubmissionFailed:
            raise fault from None


def _export_on(submission: Submission, request: Fields, mesh: Mesh) -> ExportedFunction:
    args: list[Argument] = request["args"]
    remarks: list[str] = []
    with private_jax.without_compiler_options() as options, jax.set_mesh(mesh):
        init = submission.function(request["init"]) if request["init"] else None
        state = _state_of(submission, init, mesh, remarks) if init else None
        # Those of the program of `init` are not for this one.
        options.clear()
        call = _Call(submission, mesh, state, args, takes_mesh=request["of_problem"])
        # Without a spec, an input goes where the author's `jit` wants it.
        free = [*(each.sharding is None for each in call.state_avals), *(not each["spec"] for each in _arrays(args))]
        avals = [*call.state_avals, *input_avals(args, mesh)]
        jitted: jax.stages.Wrapped = jax.jit(call, keep_unused=True)
        traced = submission.guard(lambda: jitted.trace(*avals), REFUSALS)
        given = traced.jaxpr.in_avals[len(call.state_avals) :]
        _check_widths(call.names[len(call.state_avals) :], args, given)
        own_jit = _OwnJit([] if request["of_problem"] else traced.jaxpr.jaxpr.eqns, traced.jaxpr.jaxpr)
        avals = _placed(submission.name, call.names, avals, free, own_jit)
        donated = own_jit.donated
        order = [*donated, *(number for number in range(len(avals)) if number not in donated)]
        if donated or own_jit.shardings:
            jitted = jax.jit(partial(_call_in_order, call, order), donate_argnums=range(len(donated)), keep_unused=True)
            avals = [avals[number] for number in order]
            traced = submission.guard(lambda: jitted.trace(*avals), REFUSALS)
        for_chips = lowered_for(submission, jitted, avals, traced, request.get("lowerings", ()))
        artifact, only_for_chips = _serialized(submission, jitted, avals, traced, for_chips)
    return ExportedFunction(
        artifact=artifact,
        inputs={call.names[number]: aval for number, aval in zip(order, avals, strict=True)},
        donated=len(donated),
        outputs=call.outputs,
        primitives=dict(primitives_of(traced.jaxpr.jaxpr)),
        retraced=_has_other_types(avals[: len(donated)], traced.jaxpr.out_avals),
        remarks=remarks,
        jaxpr=submission.guard(lambda: _text_of(traced.jaxpr)),
        for_chips=for_chips,
        only_for_chips=only_for_chips,
        compiler_options=[[str(name)[:_LONGEST], _value_text(value)] for name, value in options.items()][
            :_MOST_OPTIONS
        ],
    )


def _value_text(value: object) -> str:
    """The value of a compiler option as `XLA_FLAGS` would have it."""
    return str(value).lower() if isinstance(value, bool) else str(value)[:_LONGEST]


def _text_of(jaxpr: ClosedJaxpr) -> str:
    """Return the jaxpr as JAX prints it, or an empty text if that would take long."""
    if sum(1 for _ in walk(jaxpr.jaxpr)) > _MOST_PRINTED_EQUATIONS:
        return ""
    return str(jaxpr.pretty_print(source_info=True, use_color=False))[:_MOST_PRINTED]


def _serialized(
    submission: Submission,
    jitted: jax.stages.Wrapped,
    avals: Sequence[jax.ShapeDtypeStruct],
    traced: jax.stages.Traced,
    for_chips: ForChips,
) -> tuple[bytes, str]:
    """Serialize the program for CPUs, or else take the one for chips, with the reason why there is none for CPUs."""
    try:
        return submission.guard(lambda: serialize(jitted, avals, traced), REFUSALS), ""
    except SubmissionFailed as fault:
        kinds = next((each for words, each in _ONLY_ON.items() if words in fault.message), ())
        if fault.reason != "not_exportable" or not kinds:
            raise
        for kind in kinds:
            if kind in for_chips.artifacts:
                return for_chips.artifacts[kind], fault.message
        why = [
            f"JAX does not lower it for {_A[kind]} either: {for_chips.faults[kind]}"
            for kind in kinds
            if kind in for_chips.faults
        ]
        choose = f"To see its program, choose {' or '.join(_A[kind] for kind in kinds)} to compile it for."
        raise SubmissionFailed(fault.reason, " ".join([fault.message, *(why or [choose])]), fault.detail) from None


def _check_widths(names: Sequence[str], args: Sequence[Argument], avals: Sequence[jax.ShapeDtypeStruct]) -> None:
    """Check that JAX has not narrowed an input of 64 bits. Raises SubmissionFailed if it has."""
    for name, wanted, aval in zip(names, _arrays(args), avals, strict=True):
        if str(aval.dtype) != wanted["dtype"]:
            raise SubmissionFailed(
                "not_exportable",
                f"{name} is {wanted['dtype']}, which JAX takes as {aval.dtype}. Give it as {aval.dtype}, or begin the "
                'source with `jax.config.update("jax_enable_x64", True)`.',
            )


def _call_in_order(call: "_Call", order: Sequence[int], *leaves: jax.Array) -> tuple[jax.Array, ...]:
    usual = dict(zip(order, leaves, strict=True))
    return call(*(usual[number] for number in range(len(order))))


def _arrays(args: Sequence[Argument]) -> list[Argument]:
    return [each for each in args if "static" not in each]


class _Call:
    """The entry point as a function of leaves: those of the state, then the arrays. Calling it fills `outputs`.

    Attributes:
      names: the paths of its leaves.
    """

    def __init__(
        self,
        submission: Submission,
        mesh: Mesh,
        state: "_State | None",
        args: Sequence[Argument],
        *,
        takes_mesh: bool,
    ) -> None:
        self._submission, self._state, self._args = submission, state, args
        self._enter = submission.guard(lambda: from_its_line(submission.name, submission.entry))
        parameters = submission.guard(lambda: _parameters_of(submission.entry))
        self._mesh = (mesh,) if takes_mesh or next(iter(parameters), None) == "mesh" else ()
        roots = list(dict.fromkeys(each["path"][0] for each in args))
        by_name = {each.name for each in parameters.values() if each.kind is inspect.Parameter.KEYWORD_ONLY}
        self._by_name = [root in by_name for root in roots]
        self._roots = roots
        positional = [each for each in parameters.values() if each.kind in _POSITIONAL][len(self._mesh) :]
        free = len(positional) - sum(not each for each in self._by_name)
        # A tuple is several arguments if the entry point has parameters for all of them.
        self._values: list[Any] = []
        if state is not None:
            value = state.tree
            self._values = list(value) if type(value) is tuple and free >= len(value) > 1 else [value]
        given = [each.name for each in positional] + [f"state{number}" for number in range(len(self._values))]
        trees = [Tree.of({given[number]: value}) for number, value in enumerate(self._values)]
        self.names = [path for tree in trees for path in tree.paths]
        if taken := set(given[: len(self._values)]) & set(roots):
            raise SubmissionFailed(
                "wrong_structure",
                f"The state is the argument {min(taken)} of `{submission.name}`, and an input has the same name. Leave "
                "the input out, or give it the name of another argument.",
            )
        self.names += ["/".join(each["path"]) for each in _arrays(args)]
        self._names_of_state = given
        self.state_avals: list[jax.ShapeDtypeStruct] = [leaf for tree in trees for leaf in tree.leaves]
        self._structure = jax.tree_util.tree_structure(self._values)
        self.outputs: list[str] = []
        self.__name__ = submission.name

    def __call__(self, *leaves: jax.Array) -> tuple[jax.Array, ...]:
        number = len(self.state_avals)
        state: list[Any] = jax.tree_util.tree_unflatten(self._structure, leaves[:number])
        inputs = iter(leaves[number:])
        values = arguments_of(self._args, [each["static"] if "static" in each else next(inputs) for each in self._args])
        by_position = [value for value, named in zip(values, self._by_name, strict=True) if not named]
        by_name = {root: value for root, value, named in zip(self._roots, values, self._by_name, strict=True) if named}
        returned = self._enter(*self._mesh, *state, *by_position, **by_name)
        result = Tree.of({"result": returned})
        # The arguments that the function changed in place, as `nnx.Optimizer.update` does.
        after = Tree.of(dict(zip(self._names_of_state, state, strict=False)))
        before = {path: leaf for path, leaf in zip(self.names, leaves[:number], strict=False)}
        changed = [
            (path, leaf)
            for path, leaf in zip(after.paths, after.leaves, strict=True)
            if path not in before or before[path] is not leaf
        ]
        result.paths += [path for path, _ in changed]
        result.leaves += [leaf for _, leaf in changed]
        result.check_form(self._submission.name, "result", most=_MAX_LEAVES)
        self.outputs = result.paths
        return tuple(jnp.asarray(leaf) for leaf in result.leaves)


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _parameters_of(entry: Callable[..., object]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(entry).parameters
    except ValueError:  # a function without a signature, such as one of C
        return {}


@dataclass(frozen=True, slots=True)
class _State:
    """What `init` returns, with an abstract array for each leaf."""

    tree: object


def _state_of(submission: Submission, init: Callable[..., object], mesh: Mesh, remarks: list[str]) -> _State:
    """Run `init`, or only trace it if the result is too large. Its parameters are `mesh` and a seed, or one of them."""

    def made(seed: Any) -> object:
        named = submission.guard(lambda: _parameters_of(init))
        takes_mesh = next(iter(named), None) == "mesh"
        return init(*(mesh,) * takes_mesh, *(seed,) * (len(named) > takes_mesh))

    name = getattr(init, "__name__", "init")
    shapes = submission.guard(lambda: jax.eval_shape(lambda: made(0)), REFUSALS)
    form = Tree.of(shapes)
    form.check_form(name, "state", most=_MAX_LEAVES)
    size = sum(each.size * each.dtype.itemsize for each in form.leaves) * mesh.devices.size
    if size <= _MAX_EAGER_BYTES:
        tree = submission.guard(lambda: made(0))
        return _State(jax.tree.map(lambda leaf: aval_of(leaf, mesh), tree))
    jitted = jax.jit(made)
    compiled = submission.guard(lambda: jitted.lower(jnp.uint32(0)).compile(), REFUSALS)
    remarks.append(
        f"The state of `{name}` is too large to be made here. Its leaves are where `jax.jit({name})` would place them."
    )
    leaves = [
        jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding if isinstance(sharding, NamedSharding) else None)
        for leaf, sharding in zip(form.leaves, jax.tree.leaves(compiled.output_shardings), strict=True)
    ]
    return _State(jax.tree.unflatten(jax.tree.structure(shapes), leaves))


class _OwnJit:
    """What the author's own `jit` requires of the leaves that it takes.

    Attributes:
      donated: the numbers of the leaves whose last use donates them.
      shardings: where `in_shardings` puts leaves, by number.
    """

    def __init__(self, equations: Sequence[JaxprEqn], jaxpr: Jaxpr) -> None:
        numbers = {variable: number for number, variable in enumerate(jaxpr.invars)}
        self.donated: list[int] = []
        self.shardings: dict[int, NamedSharding] = {}
        for position, equation in enumerate(equations):
            if "donated_invars" not in equation.params:
                continue
            later = {id(each) for other in equations[position + 1 :] for each in other.invars}
            later |= {id(each) for each in jaxpr.outvars}
            for variable, donated, sharding in _arguments_of_jit(equation):
                number = numbers.get(variable)
                if number is None:
                    continue
                if donated and id(variable) not in later and number not in self.donated:
                    self.donated.append(number)
                if isinstance(sharding, NamedSharding):
                    self.shardings.setdefault(number, sharding)


def _arguments_of_jit(equation: JaxprEqn) -> list[tuple[Any, bool, object]]:
    donated, shardings = equation.params["donated_invars"], equation.params["in_shardings"]
    each = zip(equation.invars, donated, shardings, strict=True)
    return [(variable, *rest) for variable, *rest in each if not isinstance(variable, Literal)]


def _placed(
    function: str,
    names: Sequence[str],
    avals: Sequence[jax.ShapeDtypeStruct],
    free: Sequence[bool],
    own: _OwnJit,
) -> list[jax.ShapeDtypeStruct]:
    """Put leaves without a spec where `in_shardings` wants them.

    Raises:
      SubmissionFailed: a leaf with a spec is elsewhere.
    """
    placed = list(avals)
    for number, wanted in own.shardings.items():
        given = avals[number]
        if free[number]:
            placed[number] = given.update(sharding=wanted)
            continue
        mine = given.sharding
        if isinstance(mine, NamedSharding) and not mine.is_equivalent_to(wanted, len(given.shape)):
            raise SubmissionFailed(
                "not_exportable",
                f"{names[number]} is given as {spec_text(mine.spec)}, but `in_shardings` of `{function}` says "
                f"{spec_text(wanted.spec)}, and `jax.jit` refuses such an array. Make the two equal, or leave out the "
                "spec of the input.",
            )
    return placed


def _has_other_types(donated: Sequence[jax.ShapeDtypeStruct], results: Sequence[Any]) -> bool:
    """Whether a result that can take the place of a donated leaf has another weak type, so that the next call is traced
    again.
    """
    unmatched = list(results)
    for old in donated:
        new = next((each for each in unmatched if (each.shape, each.dtype) == (old.shape, old.dtype)), None)
        if new is not None:
            unmatched.remove(new)
            if new.weak_type != old.weak_type:
                return True
    return False
