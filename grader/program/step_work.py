"""Find what a step of a compiled program does with all that it calls: lines, functions, products and collectives."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from grader.program.census import Census
from grader.program.dots import Dot
from grader.program.hlo import Computation, Instruction, Module, Value
from grader.program.shapes import leaves
from grader.program.source_lines import operation_name
from grader.program.walk import flat_calls

_LONGEST_NAME = 80


# Treat larger counts of FLOPs as unknown, as in `walk`.
_MOST_FLOPS = 2**63 - 1
_MOST_USES = 400


@dataclass(slots=True)
class Work:
    """What one step does, or several steps together.

    Attributes:
      functions: the qualified names of the functions of the source that led to it, the outermost first.
      operation: the transformations and the primitive that led to it, as in `source_lines.operation_name`.
      lines: the lines of the source that led to it, with a weight: FLOPs of products, and bytes of other results.
      products, flops: its matrix products, and their FLOPs over all executions; None if their number is unknown.
      uses: the numbers of its collectives in the census, at most 400.
    """

    functions: tuple[str, ...] = ()
    operation: str = ""
    lines: Counter[int] = field(default_factory=Counter)
    products: int = 0
    flops: int | None = 0
    uses: tuple[int, ...] = ()


def together(works: Iterable[Work]) -> Work:
    """The work of several steps. Functions and the operation are those of the heaviest."""
    found = Work()
    heaviest = Work()
    for each in works:
        found.lines.update(each.lines)
        found.products = min(found.products + each.products, _MOST_FLOPS)
        known = None if found.flops is None or each.flops is None else found.flops + each.flops
        found.flops = known if known is not None and known <= _MOST_FLOPS else None
        found.uses = tuple(dict.fromkeys((*found.uses, *each.uses)))[:_MOST_USES] if each.uses else found.uses
        heaviest = max(heaviest, each, key=_weight)
    found.functions, found.operation = heaviest.functions, heaviest.operation
    return found


class Works:
    """What the instructions of a module do. No computation may call itself.

    Args:
      census: the module's own.
      source: the name of the file that lines and functions refer to.
    """

    def __init__(self, module: Module, census: Census, source: str) -> None:
        self._module, self._census, self._source = module, census, source
        self._uses: dict[str, list[int]] = {}
        for number, use in enumerate(census.collectives):
            self._uses.setdefault(use.name, []).append(number)
        self._dots: dict[str, list[Dot]] = {}
        for dot in census.dots:
            self._dots.setdefault(dot.name, []).append(dot)
        self._stacks = {line: functions_of(stack) for line, stack in module.source.stacks_by_line(source).items()}
        self._origins: dict[Value, tuple[int | None, tuple[str, ...], str]] = {}
        self._known: dict[str, Work] = {}

    def of(self, instruction: Instruction) -> Work:
        """Return what an instruction does."""
        line, functions, operation = self._origin(instruction.attributes.get("metadata", ()))
        work = together(self._in_computation(inner) for _, inner in flat_calls(self._module, instruction))
        dots = self._dots.get(instruction.name, [])
        if dots:
            # A product that lost its line when XLA rewrote it has also lost its stack.
            line = dots[0].source_line
            functions = functions or self._stacks.get(line or 0, ())
            counts = [None if each.executions is None else each.flops * each.executions for each in dots]
            flops = None if None in counts else sum(each or 0 for each in counts)
            work = together([work, Work(products=len(dots), flops=flops)])
        uses = self._uses.get(instruction.name, [])
        if uses:
            work = together([work, Work(uses=tuple(uses))])
            # Count the lines of all parts, because XLA merges collectives of several lines.
            for part in (part for number in uses for part in self._census.collectives[number].parts):
                if part.source_line:
                    work.lines[part.source_line] += part.logical_bytes + 1
        elif line:
            work.lines[line] += sum(each.flops for each in dots) + sum(each.bytes for each in leaves(instruction.shape))
        work.functions, work.operation = functions or work.functions, operation or work.operation
        return work

    def _origin(self, metadata: Value) -> tuple[int | None, tuple[str, ...], str]:
        """The line, the functions and the operation in the metadata of an instruction, which many have in common."""
        known = self._origins.get(metadata)
        if known is None:
            source = self._module.source
            functions = functions_of(source.stack(metadata, self._source))
            known = source.line(metadata, self._source), functions, operation_name(metadata)
            self._origins[metadata] = known
        return known

    def _in_computation(self, computation: Computation) -> Work:
        known = self._known.get(computation.name)
        if known is None:
            known = together(self.of(each) for each in computation.instructions.values())
            self._known[computation.name] = known
        return known


def functions_of(stack: Iterable[str]) -> tuple[str, ...]:
    """Functions by their qualified names, from a stack with the innermost first.

    `step.<locals>.<lambda>` is a part of `step`, and `Model.__call__` is called `Model`.
    """
    found: list[str] = []
    for each in reversed(list(stack)):
        parts = [part for part in each.split(".") if part != "<locals>"]
        while parts and (parts[-1][:1] == "<" or parts[-1] == "__call__"):
            parts.pop()
        name = ".".join(parts)[-_LONGEST_NAME:]
        # XLA repeats the callers when it inlines a call.
        if name in found:
            del found[found.index(name) :]
        if name:
            found.append(name)
    return tuple(found)


def _weight(work: Work) -> tuple[bool, int]:
    return bool(work.functions), sum(work.lines.values())
