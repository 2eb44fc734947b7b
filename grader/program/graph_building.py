"""Build the graph of a compiled program: find its steps, and fold them until few are left."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from grader.program.census import Census
from grader.program.dataflow import StepKind, Taken, follow_data
from grader.program.graph_folding import Group, fold, fold_repeats, ordered
from grader.program.hlo import Module
from grader.program.program_graph import (
    MAX_EDGES,
    MAX_ENDS,
    MAX_LINES,
    MAX_NODES,
    MAX_USES,
    GraphEdge,
    GraphEnd,
    GraphNode,
    ProgramGraph,
)
from grader.program.step_work import Work, Works, together
from grader.program.tokens import ProgramUnreadable


@dataclass(frozen=True, slots=True)
class _Folding:
    """How far steps are folded.

    Attributes:
      helpers: functions without matrix products have blocks of their own, apart from their callers.
      depth: functions that are called deeper are part of their callers; None if each has a block of its own.
      repeats: steps that are alike become one node, even if its edges then lead back to it.
      by_line: collectives of different lines have nodes of their own.
      closes_loops: a loop is one node, even if it communicates.
    """

    helpers: bool = True
    depth: int | None = None
    repeats: bool = False
    by_line: bool = True
    closes_loops: bool = False


# Tried in this order, until one leaves few enough nodes.
_FOLDINGS = (
    _Folding(),
    _Folding(helpers=False),
    _Folding(helpers=False, by_line=False),
    _Folding(helpers=False, depth=3, by_line=False),
    _Folding(repeats=True),
    _Folding(helpers=False, repeats=True),
    _Folding(helpers=False, repeats=True, by_line=False),
    _Folding(helpers=False, depth=3, repeats=True, by_line=False),
    _Folding(helpers=False, depth=2, repeats=True, by_line=False),
    _Folding(helpers=False, depth=1, repeats=True, by_line=False),
    _Folding(helpers=False, depth=1, repeats=True, by_line=False, closes_loops=True),
)


def build_graph(module: Module, census: Census, source: str = "submission.py") -> ProgramGraph:
    """The graph of a program.

    Args:
      census: the program's own, which has guaranteed that no computation calls itself.
      source: the name of the file that lines and functions refer to.
    Raises:
      ProgramUnreadable: its calls unfold to too many instructions, or one of them is inconsistent.
    """
    try:
        return _Builder(module, census, source).graph()
    except RecursionError:
        raise ProgramUnreadable("its calls are nested too deep") from None


class _Builder:
    def __init__(self, module: Module, census: Census, source: str) -> None:
        found = follow_data(module)
        works = Works(module, census, source)
        self._census = census
        self._steps, self._outputs = found.steps, found.outputs
        self._works = [Work() if each.kind == "carried" else works.of(each.instruction) for each in self._steps]
        self._kinds = [self._kind(number) for number in range(len(self._steps))]
        self._functions = [each.functions for each in self._works]
        self._is_backward = ["transpose(" in each.operation for each in self._works]
        self._lend_works()
        blocks = [number for number, step in enumerate(self._steps) if step.kind != "collective"]
        self._with_products = {
            self._functions[number][-1] for number in blocks if self._works[number].products and self._functions[number]
        }

    def _kind(self, number: int) -> StepKind:
        """The kind to show a step as: a collective in which every device is alone is a block of computation."""
        kind = self._steps[number].kind
        is_shared = any(self._census.collectives[use].group_size > 1 for use in self._works[number].uses)
        return "block" if kind == "collective" and not is_shared else kind

    def graph(self) -> ProgramGraph:
        groups: list[Group] = []
        for folding in _FOLDINGS:
            groups = self._grouped(folding)
            if len(groups) <= MAX_NODES:
                return self._assembled(groups, folding)
        # No program that people write gets here. Merge all groups beyond the limit into one node.
        kept, rest = groups[: MAX_NODES - 1], groups[MAX_NODES - 1 :]
        return self._assembled([*kept, [step for group in rest for step in group]], _FOLDINGS[-1])

    def _lend_works(self) -> None:
        """Give blocks without a known function that of a step they take from, or else of one that takes from them."""
        users: dict[int, int] = {}
        for number, step in enumerate(self._steps):
            for taken in step.took:
                users.setdefault(taken.source, number)
                if taken.source >= 0 and step.kind == "block":
                    self._lend(number, taken.source)
            if step.around is not None and self._is_backward[step.around]:
                self._is_backward[number] = True
        for number in reversed(range(len(self._steps))):
            if number in users and self._steps[number].kind == "block":
                self._lend(number, users[number])

    def _lend(self, number: int, other: int) -> None:
        if not self._functions[number]:
            self._functions[number] = self._functions[other]
        if not self._works[number].operation:
            self._works[number].operation = self._works[other].operation
            self._is_backward[number] = self._is_backward[other]

    def _grouped(self, folding: _Folding) -> list[Group]:
        """Group the steps. Each group comes after those that it takes arrays from, and after the loop around it."""
        homes = self._homes(folding)
        keys: dict[int, Hashable] = {}
        before: dict[int, list[int]] = {}
        for number, step in enumerate(self._steps):
            if step.kind != "carried" and homes[number] == number:
                keys[number] = self._key(number, folding)
                before[number] = sorted({homes[taken.source] for taken in step.took if taken.source >= 0})
        groups = fold_repeats(keys) if folding.repeats else fold(keys, before)
        inside: dict[int | None, list[Group]] = {}
        for group in groups:
            around = None if folding.closes_loops else self._steps[group[0]].around
            inside.setdefault(around, []).append(group)
        return list(self._with_inner(None, inside, before)) if len(groups) <= MAX_NODES else groups

    def _with_inner(
        self, around: int | None, inside: dict[int | None, list[Group]], before: dict[int, list[int]]
    ) -> Iterator[Group]:
        for group in ordered(inside.get(around, []), before):
            yield group
            if group[0] in inside:
                yield from self._with_inner(group[0], inside, before)

    def _homes(self, folding: _Folding) -> list[int]:
        """The step that each step is shown as: itself, or the loop around it if loops are closed."""
        homes: list[int] = []
        for number, step in enumerate(self._steps):
            around = step.around if folding.closes_loops else None
            homes.append(number if around is None else homes[around])
        return homes

    def _key(self, number: int, folding: _Folding) -> Hashable:
        """The key of a step; steps with equal keys are alike."""
        step, work = self._steps[number], self._works[number]
        if self._kinds[number] == "collective":
            use = self._census.collectives[work.uses[0]]
            return step.around, use.kind, use.groups, use.source_line if folding.by_line else None
        if step.kind in ("loop", "branch") and not folding.closes_loops and step.is_open:
            return number
        return step.around, self._kinds[number], step.trips, self._function(number, folding), self._is_backward[number]

    def _function(self, number: int, folding: _Folding) -> str:
        """The function that a step is shown as."""
        functions = list(self._functions[number][: folding.depth])
        while not folding.helpers and len(functions) > 1 and functions[-1] not in self._with_products:
            functions.pop()
        return functions[-1] if functions else ""

    def _assembled(self, groups: Sequence[Group], folding: _Folding) -> ProgramGraph:
        homes = self._homes(folding)
        of_step = {step: number for number, group in enumerate(groups) for step in group}
        node_of = [of_step.get(home) for home in homes]
        edges = self._edges(node_of)
        kept = sorted(
            sorted(edges, key=lambda edge: -edge.bytes)[:MAX_EDGES], key=lambda edge: (edge.source, edge.target)
        )
        arguments = _ends(self._arguments(node_of))
        outputs = _ends(self._returned(node_of))
        return ProgramGraph(
            nodes=tuple(self._node(group, node_of, folding) for group in groups),
            edges=tuple(kept),
            arguments=arguments[: MAX_ENDS - len(outputs)],
            outputs=outputs[:MAX_ENDS],
            is_folded=folding.repeats and any(edge.leads_back and edge.source != edge.target for edge in kept),
            left_out=len(edges) - len(kept),
        )

    def _node(self, group: Group, node_of: Sequence[int | None], folding: _Folding) -> GraphNode:
        step = self._steps[group[0]]
        around = None if step.around is None else node_of[step.around]
        work = together(self._works[each] for each in group)
        is_shown = step.is_open and not folding.closes_loops
        return GraphNode(
            kind=self._kinds[group[0]],
            name=self._function(group[0], folding) if self._kinds[group[0]] != "collective" else "",
            around=None if around is None or around == node_of[group[0]] else around,
            is_backward=self._is_backward[group[0]],
            by_hand=any("shard_map/" in self._works[each].operation for each in group),
            steps=len(group),
            lines=tuple(line for line, _ in work.lines.most_common(MAX_LINES)),
            uses=() if is_shown else work.uses[:MAX_USES],
            products=work.products,
            flops=work.flops,
            trips=step.trips,
        )

    def _edges(self, node_of: Sequence[int | None]) -> list[GraphEdge]:
        # The arrays between each two nodes. An array counts once, in the largest of its forms.
        found: dict[tuple[int, int, bool], dict[tuple[int, str], Taken]] = {}
        for number, step in enumerate(self._steps):
            target = node_of[number]
            for taken in step.took if target is not None else ():
                for source, is_next_round in self._sources(taken):
                    start = node_of[source]
                    # A block adds to what it carries in most loops; a collective that does so is a ring.
                    is_ring = is_next_round and self._kinds[source] == "collective"
                    if start is None or target is None or (start == target and not is_ring):
                        continue
                    arrays = found.setdefault((start, target, is_next_round or start > target), {})
                    key = source, taken.array if isinstance(self._steps[source].instruction.shape, tuple) else ""
                    if key not in arrays or arrays[key].shape.bytes < taken.shape.bytes:
                        arrays[key] = taken
        return [_edge(*key, list(arrays.values())) for key, arrays in found.items()]

    def _sources(self, taken: Taken) -> Iterator[tuple[int, bool]]:
        """The steps that compute an array, and whether they do so for the next round of a loop."""
        if taken.source < 0:
            return
        step = self._steps[taken.source]
        if step.kind != "carried":
            yield taken.source, False
        else:
            for each in sorted(step.next_round):
                if each >= 0 and self._steps[each].kind != "carried":
                    yield each, True

    def _arguments(self, node_of: Sequence[int | None]) -> Iterator[GraphEnd]:
        for number, step in enumerate(self._steps):
            node = node_of[number]
            for taken in step.took:
                if taken.source < 0 and node is not None:
                    yield GraphEnd(leaf=-1 - taken.source, node=node, bytes=taken.shape.bytes)

    def _returned(self, node_of: Sequence[int | None]) -> Iterator[GraphEnd]:
        for number, output in enumerate(self._outputs):
            for taken in output:
                if taken.source < 0:
                    yield GraphEnd(number, None, taken.shape.bytes, argument=-1 - taken.source)
                elif (node := node_of[taken.source]) is not None:
                    yield GraphEnd(number, node, taken.shape.bytes)


def _edge(source: int, target: int, leads_back: bool, arrays: Sequence[Taken]) -> GraphEdge:
    shapes = {str(each.shape) for each in arrays}
    return GraphEdge(
        source=source,
        target=target,
        arrays=len(arrays),
        bytes=sum(each.shape.bytes for each in arrays),
        shape=shapes.pop() if len(shapes) == 1 else "",
        leads_back=leads_back,
    )


def _ends(found: Iterator[GraphEnd]) -> tuple[GraphEnd, ...]:
    """The ends without repetitions: each leaf once for each node, with its largest size."""
    largest: dict[tuple[int, int | None, int | None], GraphEnd] = {}
    for each in found:
        key = each.leaf, each.node, each.argument
        if key not in largest or largest[key].bytes < each.bytes:
            largest[key] = each
    return tuple(largest.values())
