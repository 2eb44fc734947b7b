"""Limits on how deep a program is, counted before a recursive reader sees it.

MLIR's reader calls itself for every bracket, XLA for every loop within a loop and for every operation in a chain. A
program that is deep enough overflows the stack, which ends a process that serves everyone. Each count here takes time
in proportion to the program's length.
"""

import re
from collections.abc import Hashable

from jax.extend.mlir import ir
from jax.extend.mlir.dialects import stablehlo

from grader.program.tokens import MLIR_BRACKETS, ProgramUnreadable, Tokens, cut_mlir
from grader.verifier.errors import ProgramRefused

# Each limit is between what a program needs and what ends the process, both measured with jaxlib 0.10.2 on a stack of
# 8 MiB. "Ours" are the references and accepted submissions of all problems.
#
# Brackets: ours have 8 at most. MLIR's reader takes 4,000 in attributes, and ends at 7,000.
MAX_BRACKETS = 200
# Loops and branches: ours have 3 at most. 32 `while` within one another take 9 s to compile and 100 take 18 s; 200 take
# over 2 minutes, and 300 end XLA.
MAX_NESTED = 32
# A chain: ours have 355 at most. XLA takes 5,000 additions of float32 and ends at 6,000, and takes 6,000 sines and ends
# at 9,000. In bfloat16 and float8, where it adds conversions, 2,000 were compiled. With a matrix product after every
# 1,000 additions, so were 12,000 operations.
MAX_CHAIN = 2000
# The reader of StableHLO follows no more calls either: see `grader.program.shard_map_regions`.
_MAX_CALLS = 200

_LOOPS = frozenset(("stablehlo.while", "stablehlo.case", "stablehlo.if"))
_CALLS = {"func.call": "callee", "stablehlo.composite": "decomposition"}
_LINE = re.compile(r'"submission\.py":(\d+)', re.ASCII)


def check_brackets(text: str) -> Tokens:
    """Check the text of a program before MLIR reads it, and return its tokens.

    Raises:
      ProgramRefused: `not_exportable`; brackets are nested too deep.
      ProgramUnreadable: brackets or strings do not close.
    """
    opened, closing = 0, set(MLIR_BRACKETS.values())
    tokens = cut_mlir(text)
    for token in tokens.items:
        if token in MLIR_BRACKETS:
            opened += 1
        elif token in closing:
            opened -= 1
        if opened > MAX_BRACKETS:
            raise ProgramRefused(
                "not_exportable",
                f"The exported program has brackets more than {MAX_BRACKETS} deep, and is not read. Loops and "
                "branches within one another, and nested functions, make them deep.",
            )
    return tokens


def check_depth(module: ir.Module) -> None:
    """Check a module before XLA reads it.

    Raises:
      ProgramRefused: `not_exportable`; loops and branches, or chains of operations, are too deep.
      ProgramUnreadable: functions call one another too deep.
    """
    functions = {
        ir.StringAttr(operation.attributes["sym_name"]).value: operation.operation
        for operation in module.body.operations
        if operation.operation.name == "func.func"
    }
    depths = _Depths(functions)
    for name in functions:
        depths.of_function(name, 0)


class _Depths:
    """The depths of functions: how many loops are within one another, and how many operations are in a chain.

    A call counts as the body of its function, because XLA puts it there. So do the bodies of loops and branches: XLA
    unrolls a loop of one round. A matrix product begins a new chain, because XLA never fuses it with what comes before.
    """

    def __init__(self, functions: dict[str, ir.Operation]) -> None:
        self._functions = functions
        self._known: dict[str, tuple[int, int]] = {}

    def of_function(self, name: str, calls: int) -> tuple[int, int]:
        """Return (loops, chain). A function that the module does not have is empty: XLA refuses it."""
        if calls > _MAX_CALLS:
            raise ProgramUnreadable(f"its functions call one another more than {_MAX_CALLS} deep")
        if name not in self._functions:
            return 0, 0
        if name not in self._known:
            self._known[name] = self._of_regions(self._functions[name], {}, 0, calls)
        return self._known[name]

    def _of_regions(
        self, operation: ir.Operation, chains: dict[Hashable, int], before: int, calls: int
    ) -> tuple[int, int]:
        """Return the number of nested loops in an operation's regions, and the longest chain that ends in them.

        Args:
          chains: the length of the chain that ends in each value, which grows.
          before: the length of the chain that ends in the operation's operands.
        """
        loops, longest = 0, before
        for region in operation.regions:
            for block in region.blocks:
                chains.update(dict.fromkeys(block.arguments, before))
                for inner in block.operations:
                    here, chain = self._of_operation(inner.operation, chains, calls)
                    loops, longest = max(loops, here), max(longest, chain)
        return loops, longest

    def _of_operation(self, operation: ir.Operation, chains: dict[Hashable, int], calls: int) -> tuple[int, int]:
        before = max((chains.get(each, 0) for each in operation.operands), default=0)
        loops, chain = self._of_regions(operation, chains, before, calls)
        called = _CALLS.get(operation.name)
        if called is not None and called in operation.attributes:
            name = ir.FlatSymbolRefAttr(operation.attributes[called]).value
            loops, of_callee = self.of_function(name, calls + 1)
            chain = before + of_callee
        loops += operation.name in _LOOPS
        # A region ends with an operation that has no results.
        chain = 1 if _is_product(operation) else chain + bool(operation.results)
        if loops > MAX_NESTED:
            raise _refused(
                operation,
                f"{loops} loops and branches within one another; at most {MAX_NESTED} are compiled. Use one loop over "
                "all the rounds, or fewer dimensions at a time.",
            )
        if chain > MAX_CHAIN:
            raise _refused(
                operation,
                f"a chain of more than {MAX_CHAIN:,} operations, each of which takes the result of the one before; no "
                "longer one is compiled. Use `jax.lax.scan` or `jax.lax.fori_loop` for what repeats.",
            )
        chains.update(dict.fromkeys(operation.results, chain))
        return loops, chain


def _is_product(operation: ir.Operation) -> bool:
    """Whether it adds up products. XLA makes a plain multiplication of a product that sums over one element."""
    if operation.name != "stablehlo.dot_general":
        return False
    summed = stablehlo.DotDimensionNumbers(operation.attributes["dot_dimension_numbers"]).lhs_contracting_dimensions
    shape = ir.RankedTensorType(operation.operands[0].type).shape
    return any(shape[dimension] > 1 for dimension in summed)


def _refused(operation: ir.Operation, found: str) -> ProgramRefused:
    line = _LINE.search(str(operation.location))
    place = f", at line {line[1]}," if line else ""
    return ProgramRefused("not_exportable", f"The program has{place} {found}")
