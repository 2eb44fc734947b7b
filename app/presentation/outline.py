"""A program in outline: its inputs, what its devices send, and its outputs, small enough to come before a text.

The same builder draws it from a package, an exploration and whatever else knows where leaves live.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from markupsafe import Markup

from app.core.web.svg import drawing, element
from app.presentation.drawings.mesh import draw_as_cells, drawn_dims
from app.presentation.drawings.placement import Leaf, Mesh, group_leaves, label
from app.presentation.drawings.timeline import axes_text, executions_text, kind_number, sent_text
from grader.explorer.exploration import ExploredCollective, ExploredProgram
from grader.verdicts.evidence import Leaf as LeafEvidence
from grader.verdicts.pictures import Outline, OutlinedCollective, OutlinedLeaf

# What is drawn of each; a page has room for no more beside an editor.
MAX_LEAVES, MAX_COLLECTIVES = 3, 5
_LONGEST, _SHORTEST = 30.0, 6.0


@dataclass(frozen=True, slots=True)
class LeafOutline:
    """Leaves with equal placement: one of them, and how many `others` there are. `form` is dtype and shape."""

    name: str
    others: int
    form: str
    spec: str
    drawing: Markup


@dataclass(frozen=True, slots=True)
class CollectiveOutline:
    """Alike neighbours in program order. `kind` is the number of their colour; `line` that of the source, or None."""

    name: str
    axes: str
    size: str
    in_loop: bool
    kind: int
    line: int | None


@dataclass(frozen=True, slots=True)
class OutlineView:
    """What app/presentation/templates/macros/outline.html draws; `mesh` is empty where devices do not matter."""

    mesh: str
    inputs: tuple[LeafOutline, ...]
    collectives: tuple[CollectiveOutline, ...]
    outputs: tuple[LeafOutline, ...]
    other_inputs: int
    other_collectives: int
    other_outputs: int


def outline_of(program: ExploredProgram, *, with_lines: bool = True) -> Outline:
    """What the program takes, sends and returns, on its mesh. Without lines, it says nothing of the source."""
    mesh = Mesh.of(program.mesh)
    leaves = program.leaves.leaves
    inputs, other_inputs = _leaves([each for each in leaves if each.when == "in"], mesh)
    outputs, other_outputs = _leaves([each for each in leaves if each.when == "out"], mesh)
    sent = (
        program.collectives if with_lines else [each.model_copy(update={"line": None}) for each in program.collectives]
    )
    runs = [list(run) for _, run in groupby(sent, _alike)]
    return Outline(
        mesh=program.mesh,
        inputs=inputs,
        collectives=[_collective(run) for run in runs[:MAX_COLLECTIVES]],
        outputs=outputs,
        other_inputs=other_inputs,
        other_collectives=sum(map(len, runs[MAX_COLLECTIVES:])) + program.unlisted_collectives,
        other_outputs=other_outputs,
    )


def outline_of_call(inputs: Mapping[str, object], result: Mapping[str, object]) -> Outline:
    """What a function takes and returns in one case, where no device matters: arrays by argument and by leaf path."""
    taken = _arrays(inputs, "")
    returned = [each for path, leaf in result.items() for each in _arrays(leaf, path or "result")]
    return Outline(
        mesh={},
        inputs=taken[:MAX_LEAVES],
        collectives=[],
        outputs=returned[:MAX_LEAVES],
        other_inputs=len(taken[MAX_LEAVES:]),
        other_outputs=len(returned[MAX_LEAVES:]),
    )


def arrange_outline(outline: Outline) -> OutlineView:
    mesh = Mesh.of(outline.mesh)
    return OutlineView(
        mesh=str(mesh) if outline.mesh else "",
        inputs=tuple(_view(each, mesh) for each in outline.inputs),
        collectives=tuple(map(_sent, outline.collectives)),
        outputs=tuple(_view(each, mesh) for each in outline.outputs),
        other_inputs=outline.other_inputs,
        other_collectives=outline.other_collectives,
        other_outputs=outline.other_outputs,
    )


def _leaves(leaves: Sequence[LeafEvidence], mesh: Mesh) -> tuple[list[OutlinedLeaf], int]:
    """One for each placement, those that are split first, and the number of leaves for which there is no room."""
    groups = sorted(group_leaves(list(leaves), mesh), key=lambda each: len(set(each.got or ())) < 2)
    shown = [
        OutlinedLeaf(
            path=each.paths[0],
            dtype=each.dtype,
            shape=each.shape,
            others=len(each.paths) - 1,
            spec=each.got_spec,
            held=each.got,
        )
        for each in groups[:MAX_LEAVES]
    ]
    return shown, sum(len(each.paths) for each in groups[MAX_LEAVES:])


def _alike(each: ExploredCollective) -> tuple[object, ...]:
    return each.collective, each.axes, each.in_loop, each.executions, each.line


def _collective(run: Sequence[ExploredCollective]) -> OutlinedCollective:
    executions = [each.executions for each in run if each.executions is not None]
    return OutlinedCollective(
        collective=run[0].collective,
        axes=run[0].axes,
        sent=sum(each.sent_bytes for each in run),
        executions=sum(executions) if len(executions) == len(run) else None,
        in_loop=run[0].in_loop,
        number=len(run),
        line=run[0].line,
    )


def _arrays(value: object, path: str) -> list[OutlinedLeaf]:
    """The arrays and numbers of a pytree, with their paths."""
    if isinstance(value, Mapping):
        children = [(str(key), child) for key, child in value.items()]
    elif isinstance(value, list | tuple):
        children = [(str(index), child) for index, child in enumerate(value)]
    elif isinstance(value, np.ndarray):
        return [OutlinedLeaf(path=label(path), dtype=value.dtype.name, shape=value.shape)]
    elif isinstance(value, bool | int | float):
        return [OutlinedLeaf(path=label(path), dtype=type(value).__name__, shape=())]
    else:
        return []
    return [each for key, child in children for each in _arrays(child, f"{path}/{key}" if path else key)]


def _view(leaf: OutlinedLeaf, mesh: Mesh) -> LeafOutline:
    # A Python number has no shape.
    form = leaf.dtype if leaf.dtype in ("int", "float") else f"{leaf.dtype}[{', '.join(map(str, leaf.shape))}]"
    if leaf.held is None:
        picture = _box(leaf)
    else:
        title = f"{leaf.path} on mesh {mesh}"
        picture = draw_as_cells(mesh, _drawable(leaf), leaf.held, title=title, small=True)
    return LeafOutline(leaf.path, leaf.others, form, leaf.spec, picture)


def _drawable(leaf: OutlinedLeaf) -> Leaf:
    return Leaf(
        paths=(leaf.path,),
        members=(),
        when="",
        shape=leaf.shape,
        dtype=leaf.dtype,
        ok=True,
        expected_spec=leaf.spec,
        got_spec=leaf.spec,
        expected=None,
        got=leaf.held,
    )


def _box(leaf: OutlinedLeaf) -> Markup:
    """An array in proportion: its last two dimensions, the longer one as long as the drawing is."""
    *_, rows, columns = (1, 1, *(leaf.shape[dim] for dim in drawn_dims(_drawable(leaf))))
    most = max(rows, columns, 1)
    # The square root keeps an array of one row from being a line.
    height, width = (max(_SHORTEST, _LONGEST * math.sqrt(max(size, 1) / most)) for size in (rows, columns))
    title = f"{leaf.path}, {leaf.dtype}[{', '.join(map(str, leaf.shape))}]"
    shape = element("rect", x=0.5, y=0.5, width=width, height=height, rx=1.5, class_="cell shard-all")
    return drawing("cells", width + 1, height + 1, title, "", shape) if leaf.shape else Markup()


def _sent(each: OutlinedCollective) -> CollectiveOutline:
    return CollectiveOutline(
        name=f"{executions_text(each.executions)}{label(each.collective)}",
        axes=axes_text(each.axes),
        size=sent_text(each.executions, each.sent),
        in_loop=each.in_loop,
        kind=kind_number(each.collective),
        line=each.line,
    )
