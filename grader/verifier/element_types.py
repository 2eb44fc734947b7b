"""The closed lists of element types that a program may contain and that a program which runs may contain.

XLA's CPU runtime counts elements of two bits with the wrong width: a collective reads and writes past both ends of its
buffers, in the memory of a process that serves everyone. So every value of a program is checked, as it was written and
as it was compiled. Elements of four bits, and scales, are compiled but never run, so that the Explorer can show such
programs. tests/grader/verifier/test_element_types.py runs each collective with each element type that runs.
"""

from collections.abc import Iterator

from grader.program.hlo import Module
from grader.program.shapes import JAX_NAMES, leaves
from grader.program.stablehlo import ExportedProgram
from grader.verifier.errors import ProgramRefused

# Types of whole bytes that can hold 0, by their names in HLO, https://openxla.org/xla/shapes.
RUN = frozenset(
    "pred s8 s16 s32 s64 u8 u16 u32 u64 f8e3m4 f8e4m3 f8e4m3b11fnuz f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz "
    "bf16 f16 f32 f64 c64 c128".split()
)
# The type of attributes with the layouts of a custom call's operands. XLA has no arrays of it.
_LAYOUT = "index"
COMPILED = RUN | {"s4", "u4", "f4e2m1fn", "f8e8m0fnu"}
# The type of values without elements, which order operations.
_ORDER = "token"


def check_written(module: ExportedProgram) -> None:
    """Check an exported program before it is compiled. Raises `ProgramRefused`: `not_exportable`."""
    for dtype, line in module.element_types.items():
        if dtype not in COMPILED and dtype != _LAYOUT:
            raise ProgramRefused(
                "not_exportable",
                f"The program contains {_named(dtype, line)}, which a program here must not. Use an array of `int8` "
                "or of another type with whole bytes.",
            )


def check_runs(module: ExportedProgram, compiled: Module) -> None:
    """Check a compiled program before it runs. Raises `ProgramRefused`: `not_exportable`."""
    found = dict(module.element_types) | {dtype: None for dtype in _compiled(compiled) if dtype not in RUN}
    for dtype in sorted(found.keys() - RUN - {_LAYOUT}):
        line = module.element_types.get(dtype)
        raise ProgramRefused(
            "not_exportable",
            f"The program contains {_named(dtype, line)}. It can be compiled, but not run, because it is not known "
            "whether all collectives are right with it. Use `int8`, `float8_e4m3fn` or a wider type.",
        )


def _compiled(module: Module) -> Iterator[str]:
    for computation in module.computations.values():
        for instruction in computation.instructions.values():
            yield from (shape.dtype for shape in leaves(instruction.shape) if shape.dtype != _ORDER)


def _named(dtype: str, line: int | None) -> str:
    place = f" on line {line}" if line is not None else ""
    return f"an array of `{_jax_name(dtype)}`{place}"


def _jax_name(dtype: str) -> str:
    """Return JAX's name, such as `int2` for s2 or `uint4` for u4, or HLO's name if JAX has none."""
    if dtype[:1] in ("s", "u") and dtype[1:].isdigit():
        return f"{'u' if dtype[0] == 'u' else ''}int{dtype[1:]}"
    return JAX_NAMES.get(dtype, dtype[:40])
