"""Walk a program from its entry through every call, counting how often each instruction runs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from grader.program.hlo import Computation, Instruction, Module, reference
from grader.program.loops import trip_count
from grader.program.tokens import ProgramUnreadable, shown

# A text of n lines that call one another can mean 2**n executed instructions. No honest program comes close.
_MOST_VISITS = 200_000
_DEEPEST = 200
_MOST_EXECUTIONS = 2**63 - 1
_CALLS = (
    "to_apply", "calls", "condition", "body", "branch_computations", "true_computation", "false_computation",
    "called_computations", "select", "scatter",
)  # fmt: skip
# Instructions that run the called computation once. Others (reduce, sort, map, custom-call) run it any number of times.
_ONCE = {"call", "fusion", "async-start", "call-start", "fusion-start"}


@dataclass(frozen=True, slots=True)
class Site:
    """An instruction, in one of the places from which it is called.

    Attributes:
      loops: names of the `while` instructions around it, outermost first.
      executions: how often it runs in one call of the program. None if that depends on data or is unknown.
      conditional: whether it is in a branch. `executions` assumes that the branch is always taken.
      asynchronous: whether an async-start started it, so that it runs at the same time as others.
    """

    computation: Computation
    instruction: Instruction
    loops: tuple[str, ...] = ()
    executions: int | None = 1
    conditional: bool = False
    asynchronous: bool = False


def sites(module: Module, wanted: Callable[[Instruction], bool]) -> list[Site]:
    """Find all `wanted` instructions, in program order, once for each place from which they are called.

    Raises:
      ProgramUnreadable: a computation calls itself, or the calls unfold to too many instructions.
    """
    return list(_Walk(module, wanted).sites())


def flat_calls(module: Module, instruction: Instruction) -> list[tuple[str, Computation]]:
    """The computations that an instruction calls, each with the attribute that names it."""
    # An -update or -done repeats what its -start calls.
    if instruction.opcode.endswith(("-update", "-done")):
        return []
    found = []
    for attribute in _CALLS:
        for token in instruction.attributes.get(attribute, ()):
            computation = module.computations.get(reference(token))
            if computation is not None:
                found.append((attribute, computation))
            elif token[:1] == "%":
                raise ProgramUnreadable(f"{shown(instruction.name)} calls {shown(token)}, which does not exist")
    return found


class _Walk:
    def __init__(self, module: Module, wanted: Callable[[Instruction], bool]) -> None:
        self.module = module
        self.wanted = wanted
        self.trips: dict[tuple[str, str], int | None] = {}
        # For each computation, the instructions that are wanted or lead to a wanted one.
        self.relevant: dict[str, list[Instruction]] = {}
        self._find_relevant()

    def sites(self) -> Iterator[Site]:
        visits = 0
        stack = [iter(self._steps(Site(self.module.entry, self._anything())))]
        while stack:
            step = next(stack[-1], None)
            if step is None:
                stack.pop()
                continue
            visits += 1
            if visits > _MOST_VISITS:
                raise ProgramUnreadable(f"its calls unfold to more than {_MOST_VISITS} instructions")
            site, enter = step
            if not enter:
                yield site
            elif len(stack) == _DEEPEST:
                raise ProgramUnreadable(f"its calls are nested more than {_DEEPEST} deep")
            else:
                stack.append(iter(self._steps(site)))

    def _anything(self) -> Instruction:
        return next(iter(self.module.entry.instructions.values()))

    def _steps(self, around: Site) -> Iterator[tuple[Site, bool]]:
        """Yield the relevant instructions of a computation: sites to report (False), computations to enter (True)."""
        computation = around.computation
        for instruction in self.relevant[computation.name]:
            here = replace(around, instruction=instruction)
            if self.wanted(instruction):
                yield here, False
            for attribute, inner in flat_calls(self.module, instruction):
                if self.relevant[inner.name]:
                    yield self._entered(here, attribute, inner), True

    def _entered(self, here: Site, attribute: str, inner: Computation) -> Site:
        instruction = here.instruction
        opcode = instruction.opcode
        loops, executions, conditional = here.loops, here.executions, here.conditional
        if opcode == "while":
            loops = (*loops, instruction.name)
            trips = self._trips(here.computation, instruction)
            if trips is not None and attribute == "condition":
                trips += 1
            executions = _times(executions, trips)
        elif opcode == "conditional":
            conditional = True
        elif opcode not in _ONCE:
            executions = None
        beside = here.asynchronous or opcode.endswith("-start")
        return Site(inner, instruction, loops, executions, conditional, beside)

    def _trips(self, caller: Computation, loop: Instruction) -> int | None:
        key = caller.name, loop.name
        if key not in self.trips:
            self.trips[key] = trip_count(self.module, caller, loop)
        return self.trips[key]

    def _find_relevant(self) -> None:
        """Fill `relevant`, innermost computations first, without recursion because chains of calls may be long."""
        opened: set[str] = set()
        stack = [(self.module.entry, False)]
        while stack:
            computation, leaving = stack.pop()
            if leaving:
                self.relevant[computation.name] = [
                    instruction
                    for instruction in computation.instructions.values()
                    if self.wanted(instruction)
                    or any(self.relevant[inner.name] for _, inner in flat_calls(self.module, instruction))
                ]
                opened.discard(computation.name)
            elif computation.name in opened:
                raise ProgramUnreadable(f"{shown(computation.name)} calls itself")
            elif computation.name not in self.relevant:
                opened.add(computation.name)
                stack.append((computation, True))
                inner = {
                    called.name: called
                    for instruction in computation.instructions.values()
                    for _, called in flat_calls(self.module, instruction)
                }
                stack.extend((called, False) for called in inner.values())


def _times(executions: int | None, trips: int | None) -> int | None:
    if executions == 0 or trips == 0:
        return 0
    if executions is None or trips is None or executions * trips > _MOST_EXECUTIONS:
        return None
    return executions * trips
