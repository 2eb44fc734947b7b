"""Export a submission: run its `init`, and trace its entry point with abstract sharded inputs.

Only StableHLO, which is data, and the values of the initial state leave the process. Hidden inputs never enter it,
because tracing needs only shapes.
"""

import contextlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import jax
import jax.extend
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from grader.confined.artifact import SERIALIZED, artifact_of
from grader.confined.request_loop import Fields
from grader.core.wire import Argument, Array
from grader.runner.own_meshes import OwnMesh, on_own_mesh
from grader.runner.submission import Submission, SubmissionFailed
from grader.runner.tracing import (
    REFUSALS,
    ForChips,
    arguments_of,
    aval_of,
    input_avals,
    lowered_for,
    make_mesh,
    serialize,
)
from grader.runner.tree import Tree


@dataclass(frozen=True, slots=True)
class Exported:
    """One exported program. `init` is the program of `init`, a function of the seed, if it was requested.

    `states` has the leaves of `init` for each seed, and `states_of` computes them for other seeds. `outputs` names the
    returned leaves in the program's order. `two_steps` writes a program that calls the step twice; its text is empty if
    there can be none. `for_chips` is the program as JAX lowers it for chips, if that was requested.
    """

    artifact: bytes
    init: bytes | None
    states: list[dict[str, Array]]
    outputs: list[str]
    two_steps: Callable[[], str]
    for_chips: ForChips
    states_of: Callable[[Sequence[int]], list[dict[str, Array]]]


def export_program(submission: Submission, request: Fields, own: Sequence[OwnMesh] = ()) -> Exported:
    """Export the entry point for one mesh.

    If the source makes a mesh of this shape itself, its axes decide which kinds of axes the mesh has.

    Args:
      request: `mesh` (axis to size), `explicit` (its Explicit axes), `init` (a name or None), `seeds` for it,
        `export_init`, `lowerings` (platforms of chips),
        `args`: each `{"static": value}` or `{"shape", "dtype", "spec"}`.
      own: the meshes that the source has made. It grows while the source runs.
    Raises:
      SubmissionFailed: `error`, `missing_entry`, `wrong_structure` or `not_exportable`, with the submission's line.
    """
    asked = make_mesh(request["mesh"], request["explicit"])
    return on_own_mesh(asked, own, lambda mesh: _export_for(submission, request, mesh), fixed=bool(request["explicit"]))


def _export_for(submission: Submission, request: Fields, given: Mesh) -> Exported:
    init = submission.function(request["init"]) if request["init"] else None
    tree, init_artifact = Tree([], [], None), None
    with jax.set_mesh(given):
        if init and request["export_init"]:
            init_artifact, init = _export_init(submission, init, given)
        made = [_initial_state(submission, init, given, seed) for seed in request["seeds"]] if init else []
        if made:
            tree = made[0]

        def on_host(trees: Sequence[Tree]) -> list[dict[str, Array]]:
            if any(each.paths != tree.paths for each in trees):
                raise SubmissionFailed(
                    "wrong_structure", f"`{request['init']}` returns different leaves for different seeds."
                )
            return [submission.guard(each.to_host) for each in trees]

        def states_of(seeds: Sequence[int]) -> list[dict[str, Array]]:
            with jax.set_mesh(given):
                return on_host([_initial_state(submission, init, given, seed) for seed in seeds] if init else [])

        states = on_host(made) if made else [{}]
        # A state on an Explicit mesh has its sharding in its type, so the inputs must have one, too.
        explicit = any(_is_explicit(leaf, given) for leaf in tree.leaves)
    mesh = make_mesh(request["mesh"], list(request["mesh"])) if explicit else given
    step = _Step(submission, given, tree if init else None, request["args"])
    with jax.set_mesh(mesh):
        avals = [*(aval_of(leaf, mesh) for leaf in tree.leaves), *input_avals(request["args"], mesh)]
        # `keep_unused`: an unused input keeps its sharding. Otherwise the program would seem to take it whole.
        jitted = jax.jit(step, donate_argnums=tuple(range(len(tree.leaves))), keep_unused=True)
        traced = submission.guard(lambda: jitted.trace(*avals), REFUSALS)
        artifact = submission.guard(lambda: serialize(jitted, avals, traced), REFUSALS)
        for_chips = lowered_for(submission, jitted, avals, traced, request.get("lowerings", ()))

    def two_steps() -> str:
        with jax.set_mesh(mesh):
            return _two_steps(submission, jitted, avals, traced)

    return Exported(
        artifact=artifact,
        init=init_artifact,
        states=states,
        outputs=step.outputs,
        two_steps=two_steps,
        for_chips=for_chips,
        states_of=states_of,
    )


def _export_init(
    submission: Submission, init: Callable[..., object], mesh: Mesh
) -> tuple[bytes, Callable[..., object]]:
    """Export and compile `init` with the seed as its input, so that only its results take memory."""

    def flat(seed: jax.Array) -> tuple[jax.Array, ...]:
        tree = Tree.of(init(mesh, seed))
        tree.check("init", "state")
        return tuple(jnp.asarray(leaf) for leaf in tree.leaves)

    # The seed is an input, so that the compiler cannot compute the state and store it as a constant.
    aval = jax.ShapeDtypeStruct((), jnp.uint32, sharding=NamedSharding(mesh, P()))
    jitted = jax.jit(flat)
    traced = submission.guard(lambda: jitted.trace(aval), REFUSALS)
    artifact = submission.guard(lambda: serialize(jitted, [aval], traced), REFUSALS)
    compiled = jax.jit(init, static_argnums=0)
    return artifact, lambda mesh, seed: compiled(mesh, jnp.uint32(seed))


def _initial_state(submission: Submission, init: Callable[..., object], mesh: Mesh, seed: int) -> "Tree":
    tree = submission.guard(lambda: Tree.of(init(mesh, seed)))
    tree.check("init", "state")
    return tree


def rehearse(init: Callable[..., object] | None, meshes: Sequence[dict[str, int]], *, compiled: bool) -> None:
    """Warm up exports before there is a submission: run a public `init` on each mesh, or a small program.

    After that, little of an export happens for the first time.

    Args:
      compiled: leave out steps that only fill the compilation cache, because an earlier rehearsal has filled it.
    """
    for axes in meshes:
        mesh = make_mesh(axes)
        with jax.set_mesh(mesh):
            if init is not None:
                with contextlib.suppress(Exception):  # a starter is unfinished, and might not run at all
                    state = Tree.of(init(mesh, 0))
                    state.to_host()
                    if not compiled:
                        _make_leaf_by_leaf(state.leaves)
            else:
                rows = 8 * mesh.devices.size
                sharding = NamedSharding(mesh, P(tuple(axes)))
                avals = [jax.ShapeDtypeStruct((rows, 8), jnp.float32, sharding=sharding)] * 2
                artifact_of(jax.export.export(jax.jit(partial(_rehearsed_step, mesh)))(*avals))


def _make_leaf_by_leaf(leaves: Sequence[jax.Array]) -> None:
    """Create parameters like students who replace the starter's `init`: each operation is its own program."""
    key = jax.random.key(0)
    zeros = [jnp.zeros(leaf.shape) for leaf in leaves if leaf.dtype == jnp.float32]
    for shape in sorted({leaf.shape for leaf in zeros}):
        jnp.sqrt(jnp.ones(shape)) * 0.1
        jax.random.normal(key, shape) * 0.1
        if len(shape) == 2:
            nnx.Linear(*shape, rngs=nnx.Rngs(0))
    optax.adam(0.1).init(zeros)


def _rehearsed_step(mesh: Mesh, w: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    axes = tuple(mesh.axis_names)

    def local(w: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
        def loss(w: jax.Array) -> jax.Array:
            return jnp.mean(jnp.square(jax.nn.relu(x @ jax.lax.all_gather(w, axes, tiled=True).T)))

        value, gradient = jax.value_and_grad(loss)(w)
        return w - 0.1 * gradient, jax.lax.pmean(value, axes)

    return jax.shard_map(local, mesh=mesh, in_specs=(P(axes), P(axes)), out_specs=(P(axes), P()))(w, x)


def _no_pair(name: str, returned: object) -> str:
    message = f"`{name}` must return the pair (state, loss). It returns {_described(returned)}."
    if returned is None:
        return f"{message} Does every path through the function end in `return state, loss`?"
    if inspect.iscoroutine(returned):
        returned.close()
        return f"{message} Write `def {name}` instead of `async def {name}`."
    return message


def _described(value: object) -> str:
    """Describe a submission's value in a few words."""
    if value is None:
        return "None"
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__} of {len(value)}"
    if isinstance(value, jax.Array):
        return f"an array of shape {value.shape}"
    kind = type(value).__name__[:80]
    return f"{'an' if kind[:1].lower() in 'aeiou' else 'a'} {kind}"


class _Step:
    """The entry point as a function of leaves. Tracing it fills `outputs`."""

    def __init__(self, submission: Submission, mesh: Mesh, state: Tree | None, args: Sequence[Argument]) -> None:
        self._submission, self._mesh, self._state, self._args = submission, mesh, state, args
        self.outputs: list[str] = []
        self.__name__ = "step"

    def __call__(self, *leaves: jax.Array) -> tuple[jax.Array, ...]:
        number = len(self._state.leaves) if self._state else 0
        inputs = iter(leaves[number:])
        args = arguments_of(self._args, [arg["static"] if "static" in arg else next(inputs) for arg in self._args])
        if self._state is None:
            return self._named(Tree.of({"result": self._submission.entry(self._mesh, *args)}))
        state = jax.tree_util.tree_unflatten(self._state.structure, leaves[:number])
        returned = self._submission.entry(self._mesh, state, *args)
        if not isinstance(returned, tuple) or len(returned) != 2:
            raise SubmissionFailed("wrong_structure", _no_pair(self._submission.name, returned))
        new, loss = Tree.of(returned[0]), Tree.of(returned[1])
        if loss.paths != [""]:
            raise SubmissionFailed(
                "wrong_structure",
                f"`{self._submission.name}` must return the pair (state, loss), and the loss must be one array. It is "
                f"{_described(returned[1])}.",
            )
        self._match(new)
        order = [new.paths.index(path) for path in self._state.paths]
        return self._named(Tree([*self._state.paths, "loss"], [*(new.leaves[i] for i in order), *loss.leaves], None))

    def _named(self, tree: Tree) -> tuple[jax.Array, ...]:
        tree.check(self._submission.name, "result")
        self.outputs = tree.paths
        return tuple(jnp.asarray(leaf) for leaf in tree.leaves)

    def _match(self, new: Tree) -> None:
        assert self._state is not None
        missing = [path for path in self._state.paths if path not in new.paths]
        extra = [path for path in new.paths if path not in self._state.paths]
        if missing or extra or len(new.paths) != len(self._state.paths):
            faults = [f"missing: {', '.join(missing[:5])}"] * bool(missing) + [
                f"not in the state of init: {', '.join(extra[:5])}"
            ] * bool(extra)
            raise SubmissionFailed(
                "wrong_structure",
                f"The state that `{self._submission.name}` returns must have init's leaves; {'; '.join(faults)}.",
            )


def _two_steps(
    submission: Submission, jitted: jax.stages.Wrapped, avals: Sequence[jax.ShapeDtypeStruct], traced: jax.stages.Traced
) -> str:
    """The text of a program of two steps, the second on the state that the first returned.

    JAX writes a function that it traced once as one function, which both steps call. A state whose type changes, in its
    weak types or on Explicit axes in its shardings, makes it two: so the program shows whether a step is traced again.
    """
    outs = traced.jaxpr.out_avals
    number = len(outs) - 1
    if any((old.shape, old.dtype) != (new.shape, new.dtype) for old, new in zip(avals[:number], outs, strict=False)):
        # Such a state cannot enter a step at all. The verifier's facts show that, with the name of the leaf.
        return ""

    def two_steps(*leaves: jax.Array) -> tuple[jax.Array, ...]:
        *state, loss = jitted(*leaves)
        return (*jitted(*state, *leaves[number:]), loss)

    # `keep_unused`: otherwise JAX would remove what nothing uses from the first step, but not from the second.
    exporting = jax.export.export(jax.jit(two_steps, keep_unused=True), platforms=["cpu"], disabled_checks=SERIALIZED)
    try:
        return str(submission.guard(lambda: exporting(*avals).mlir_module()))
    except SubmissionFailed:
        # The second step cannot be traced. Other checks say what is wrong with the state.
        return ""


def _is_explicit(leaf: object, mesh: Mesh) -> bool:
    sharding = getattr(leaf, "sharding", None)
    return (
        isinstance(sharding, NamedSharding)
        and any(kind == AxisType.Explicit for kind in sharding.mesh.axis_types)
        and sharding.mesh.axis_names == mesh.axis_names
    )
