"""Check the native code that a compiled program calls against a rule for each kernel.

XLA checks the shapes of its own operations, but trusts a custom call: if a result is declared larger than what the
kernel writes, it returns old contents of that memory; if smaller, the kernel writes past its end. So every call in the
compiled program, which is what will run, is checked against its kernel's rule: number, dtype and shape of operands and
results, options, aliases. Anything that has no rule is rejected. Layouts are ignored, because they permute elements but
do not change sizes.

Source: the signatures are those of jaxlib's FFI handlers, as jax/_src/lax/linalg.py calls them, and of LAPACK,
https://netlib.org/lapack/explore-html/
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grader.program.census import read_aliases
from grader.program.hlo import Computation, Instruction, Module, Value
from grader.program.shapes import Shape
from grader.program.tokens import integer, shown, unquoted
from grader.verifier.errors import ProgramRefused

_DTYPES = {"s": "f32", "d": "f64", "c": "c64", "z": "c128"}
_REAL = {"c64": "f32", "c128": "f64"}
_COMPLEX = {"f32": "c64", "f64": "c128"}
_LAPACK = re.compile(r"lapack_([sdcz])([a-z0-9]+)_ffi", re.ASCII)
# The attributes of a custom call that JAX writes. Others, such as a side effect or a literal, are rejected.
_ATTRIBUTES = {
    "api_version",
    "backend_config",
    "custom_call_target",
    "frontend_attributes",
    "metadata",
    "operand_layout_constraints",
    "output_to_operand_aliasing",
}


@dataclass(frozen=True, slots=True)
class _Rule:
    """One LAPACK kernel, for all of its dtypes.

    Args:
      operands, results: `A m n` is a matrix of the kernel's dtype (`R` its real and `C` its complex counterpart, `i`
        32-bit integers) after the batch dimensions. `r` is min(m, n), and `p` is n - 1.
      options: the allowed values; characters are LAPACK's.
      aliases: (result, operand) pairs that may share a buffer.
      dtypes: the letters of its dtypes.
      unwritten: result -> option and its value under which the kernel writes nothing there.
    """

    operands: tuple[str, ...]
    results: tuple[str, ...]
    options: Mapping[str, str] = field(default_factory=dict)
    aliases: frozenset[tuple[int, int]] = frozenset({(0, 0)})
    dtypes: str = "sdcz"
    unwritten: Mapping[int, tuple[str, str]] = field(default_factory=dict)


_TOP_K_ATTRIBUTES = {"backend_config", "called_computations", "custom_call_target", "frontend_attributes", "metadata"}
# JAX 0.12 writes these options; JAX 0.10 leaves them out.
_TOP_K_OPTIONS = {(), ("{", "is_stable", "=", "true", ",", "order", "=", '"TOTAL"', "}")}
_NO_BASES = {2: ("mode", "N"), 3: ("mode", "N")}
_EIGENVECTORS = {"compute_left": "NV", "compute_right": "NV"}
_RULES: dict[str, tuple[_Rule, ...]] = {
    "potrf": (_Rule(("A n n",), ("A n n", "i"), {"uplo": "LU"}),),
    "getrf": (_Rule(("A m n",), ("A m n", "i r", "i")),),
    "geqrf": (_Rule(("A m n",), ("A m n", "A r")),),
    "orgqr": (_Rule(("A m n", "A k"), ("A m n",), dtypes="sd"),),
    "ungqr": (_Rule(("A m n", "A k"), ("A m n",), dtypes="cz"),),
    "gesdd": (
        _Rule(("A m n",), ("A m n", "R r", "A m m", "A n n", "i"), {"mode": "A"}),
        _Rule(("A m n",), ("A m n", "R r", "A m r", "A r n", "i"), {"mode": "S"}),
        *(
            _Rule(("A m n",), ("A m n", "R r", *bases, "i"), {"mode": "N"}, unwritten=_NO_BASES)
            for bases in (("A m m", "A n n"), ("A m r", "A r n"))
        ),
    ),
    "syevd": (_Rule(("A n n",), ("A n n", "R n", "i"), {"mode": "V", "uplo": "LU"}, dtypes="sd"),),
    "heevd": (_Rule(("A n n",), ("A n n", "R n", "i"), {"mode": "V", "uplo": "LU"}, dtypes="cz"),),
    "geev": (
        _Rule(
            ("A n n",),
            ("A n", "A n", "C n n", "C n n", "i"),
            _EIGENVECTORS,
            aliases=frozenset(),
            dtypes="sd",
            unwritten={2: ("compute_left", "N"), 3: ("compute_right", "N")},
        ),
        _Rule(
            ("A n n",),
            ("A n", "A n n", "A n n", "i"),
            _EIGENVECTORS,
            aliases=frozenset(),
            dtypes="cz",
            unwritten={1: ("compute_left", "N"), 2: ("compute_right", "N")},
        ),
    ),
    "gees": tuple(
        _Rule(
            ("A n n",),
            ("A n n", "A n n", *["A n"] * values, "i", "i"),
            {"mode": "NV", "sort": "N"},
            dtypes=dtypes,
            unwritten={1: ("mode", "N")},
        )
        for values, dtypes in ((2, "sd"), (1, "cz"))
    ),
    "gehrd": (_Rule(("A n n",), ("A n n", "A p", "i"), {"low": "1", "high": "n"}),),
    "sytrd": (_Rule(("A n n",), ("A n n", "R n", "R p", "A p", "i"), {"uplo": "LU"}, dtypes="sd"),),
    "hetrd": (_Rule(("A n n",), ("A n n", "R n", "R p", "A p", "i"), {"uplo": "LU"}, dtypes="cz"),),
    "trsm": tuple(
        _Rule(
            (f"A {square} {square}", "A m n"),
            ("A m n",),
            {"side": side, "uplo": "LU", "trans_x": "NTC", "diag": "NU"},
            frozenset({(0, 1)}),
        )
        for side, square in (("L", "m"), ("R", "n"))
    ),
    "gtsv": (
        _Rule(
            ("A n", "A n", "A n", "A n k"),
            ("A n", "A n", "A n", "A n k", "i"),
            aliases=frozenset((each, each) for each in range(4)),
        ),
    ),
}
# The targets that an exported program is allowed to name. XLA adds TopK itself, for `jax.lax.top_k`.
KERNELS = frozenset(
    f"lapack_{letter}{name}_ffi" for name, rules in _RULES.items() for rule in rules for letter in rule.dtypes
)


def check_kernels(module: Module) -> tuple[str, ...]:
    """Check all native code that a compiled program calls, and return the names of the kernels, sorted.

    Raises:
      ProgramRefused: `not_exportable`; a call breaks its kernel's rule, or a sort is not stable.
    """
    found = set()
    for computation in module.computations.values():
        for instruction in computation.instructions.values():
            if instruction.opcode == "custom-call":
                found.add(_check_call(computation, instruction))
            elif instruction.opcode == "sort" and instruction.attributes.get("is_stable") != ("true",):
                # The program defines the comparison. One that contradicts itself sends the C++ library's unstable sort
                # past both ends of the array; the stable sort stays inside with any comparison.
                raise ProgramRefused(
                    "not_exportable",
                    "The program sorts without `is_stable=True`. Only stable sorts are allowed: remove "
                    "`is_stable=False` or `stable=False`.",
                )
    return tuple(sorted(found))


def _check_call(computation: Computation, call: Instruction) -> str:
    target = call.attributes.get("custom_call_target", ())
    name = unquoted(target[0]) if len(target) == 1 and target[0][:1] == '"' else ""
    operands = [_array(computation.operand(call, index).shape, name) for index in range(len(call.operands))]
    results = [_array(each, name) for each in (call.shape if isinstance(call.shape, tuple) else (call.shape,))]
    if name == "TopK":
        _check_top_k(call, operands, results)
        return name
    match = _LAPACK.fullmatch(name)
    if match is None or name not in KERNELS:
        raise ProgramRefused(
            "not_exportable", f"The compiled program calls `{name[:80]}`, which a program here must not."
        )
    if call.attributes.keys() - _ATTRIBUTES or call.attributes.get("api_version") != ("API_VERSION_TYPED_FFI",):
        raise _misused(name, "it has attributes that JAX does not set")
    options = _options(call.attributes.get("backend_config", ("{", "}")), name)
    for rule in _RULES[match[2]]:
        if match[1] in rule.dtypes and _fits(rule, _DTYPES[match[1]], operands, results, options):
            break
    else:
        signature = f"{', '.join(map(str, operands))} -> {', '.join(map(str, results))}"
        raise _misused(name, f"its kernel does not accept {signature} with the options {options}"[:400])
    aliases = read_aliases(call.attributes.get("output_to_operand_aliasing", ()), len(results), len(operands))
    if not rule.aliases.issuperset(aliases):
        raise _misused(name, "a result shares its buffer with the wrong operand")
    unwritten = {result for result, (option, value) in rule.unwritten.items() if options[option] == ord(value)}
    if unwritten and not unwritten.isdisjoint(_read(computation, call)):
        raise _misused(name, "the program reads a result that its kernel does not compute with these options")
    return name


def _fits(
    rule: _Rule, dtype: str, operands: Sequence[Shape], results: Sequence[Shape], options: Mapping[str, int]
) -> bool:
    """Whether some assignment of sizes to the rule's letters gives all shapes and options."""
    wanted = (*rule.operands, *rule.results)
    if (len(operands), len(results)) != (len(rule.operands), len(rule.results)):
        return False
    kinds = {"A": dtype, "R": _REAL.get(dtype, dtype), "C": _COMPLEX.get(dtype, dtype), "i": "s32"}
    rank = len(wanted[0].split()) - 1
    batch = operands[0].dims[: len(operands[0].dims) - rank]
    sizes: dict[str, int] = {}
    for text, shape in zip(wanted, (*operands, *results), strict=True):
        kind, *letters = text.split()
        dims = shape.dims[len(batch) :]
        if shape.dtype != kinds[kind] or shape.dims[: len(batch)] != batch or len(dims) != len(letters):
            return False
        for letter, size in zip(letters, dims, strict=True):
            if sizes.setdefault(letter, _derived(letter, sizes, size)) != size:
                return False
    # For a matrix without rows or columns, LAPACK returns early and does not write the other results.
    if min(sizes.get(letter, 1) for letter in "mnk") < 1:
        return False
    if rule.operands == ("A m n", "A k") and not sizes["k"] <= sizes["n"] <= sizes["m"]:
        return False
    return options.keys() == rule.options.keys() and all(
        value in _values(rule.options[option], sizes) for option, value in options.items()
    )


def _derived(letter: str, sizes: Mapping[str, int], size: int) -> int:
    """The value that `letter` must have, given the sizes before it; `size` itself if it is free."""
    return {"r": lambda: min(sizes["m"], sizes["n"]), "p": lambda: sizes["n"] - 1}.get(letter, lambda: size)()


def _values(allowed: str, sizes: Mapping[str, int]) -> set[int]:
    if allowed in ("1", "n"):
        return {1 if allowed == "1" else sizes["n"]}
    return {ord(character) for character in allowed}


def _check_top_k(call: Instruction, operands: Sequence[Shape], results: Sequence[Shape]) -> None:
    """Check f32[b, n] -> f32[b, k], s32[b, k] with k <= n, or the same without b."""
    if len(operands) == 1 and len(results) == 2:
        rows, values, indices = operands[0], results[0], results[1]
        same = rows.dims[:-1] == values.dims[:-1] and values.dims == indices.dims
        if (
            same
            and (rows.dtype, values.dtype, indices.dtype) == ("f32", "f32", "s32")
            and len(rows.dims) in (1, 2)
            and values.dims[-1] <= rows.dims[-1]
            and call.attributes.keys() <= _TOP_K_ATTRIBUTES
            and call.attributes.get("backend_config", ()) in _TOP_K_OPTIONS
        ):
            return
    raise _misused("TopK", "its operand and its results do not match")


def _options(value: Value, name: str) -> dict[str, int]:
    """Read `{mode = 65 : ui8, uplo = 76 : ui8}`."""
    options: dict[str, int] = {}
    inner = value[1:-1]
    for at in range(0, len(inner), 6):
        match inner[at : at + 6]:
            case (key, "=", number, ":", "ui8" | "i32", *rest) if rest in ([], [","]) and key not in options:
                parsed = integer(number)
                if parsed is not None:
                    options[key] = parsed
                    continue
        raise _misused(name, f"its options are not names and numbers: {shown(' '.join(inner))}")
    return options


def _read(computation: Computation, call: Instruction) -> Iterator[int]:
    """Yield the numbers of the results that the program reads, or all of them if it passes on the whole tuple."""
    every = range(len(call.shape) if isinstance(call.shape, tuple) else 1)
    for instruction in computation.instructions.values():
        if call.name not in instruction.operands:
            continue
        index = integer("".join(instruction.attributes.get("index", ())))
        if instruction.opcode == "get-tuple-element" and index is not None:
            yield index
        else:
            yield from every
    if computation.root == call.name:
        yield from every


def _array(shape: object, name: str) -> Shape:
    if not isinstance(shape, Shape):
        raise _misused(name, "it takes or returns a tuple inside a tuple")
    return shape


def _misused(name: str, why: str) -> ProgramRefused:
    return ProgramRefused("not_exportable", f"The grader does not accept how the program calls `{name[:80]}`: {why}.")
