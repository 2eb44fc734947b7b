"""Read the StableHLO of an exported program: what the submission wrote, before XLA compiles it.

On CPU, the compiled program runs every collective in at least float32, so only this text shows the dtype that is sent.

Grammar: https://mlir.llvm.org/docs/LangRef/ and https://openxla.org/stablehlo/spec
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.program.collectives import KINDS
from grader.program.shapes import DTYPES, Shape
from grader.program.shard_map_regions import Place, Places, behind
from grader.program.sharding_constraints import ShardingConstraint, read_constraints
from grader.program.stablehlo_locations import Locations, Row
from grader.program.stablehlo_loop_overlap import turns_as_written
from grader.program.stablehlo_rounding import rounded_arguments
from grader.program.stablehlo_statements import RETURNS, Statements
from grader.program.tokens import ProgramUnreadable, Tokens, cut_mlir, integer, shown

_COLLECTIVES = {f"stablehlo.{kind.replace('-', '_')}": kind for kind in KINDS}
_NAMESPACED = re.compile(r"[A-Za-z_][\w$]*(?:\.[\w$]+)+", re.ASCII)
_PLAIN = re.compile(r"[\w.\- ]*", re.ASCII)
_TENSOR = re.compile(r"((?:\d+x)*)([A-Za-z]\w*(?:<\w+>)?)", re.ASCII)
_ELEMENT = re.compile(r"tensor<(?:\d+x)*([a-z]\w*)[,>]", re.ASCII)
_ELEMENT_OF_ANY = re.compile(r"tensor<(?:\d+x)*([A-Za-z]\w*(?:<\w+>)?)[,>]", re.ASCII)
_COMPLEX = {"complex<f32>": "c64", "complex<f64>": "c128"}
_PRODUCTS = {"stablehlo.dot_general", "stablehlo.dot", "stablehlo.convolution"}
_DONATED = "jax.buffer_donor"
_ALIASED = "tf.aliasing_output"


@dataclass(frozen=True, slots=True)
class ExportedCollective:
    """One collective as it was written. Shapes are those of one device inside a shard_map; dtypes have HLO's names.

    `channel` is the number that it keeps when it is compiled; the partitioner gives its own collectives higher ones.
    """

    kind: str
    operands: tuple[Shape, ...]
    results: tuple[Shape, ...]
    channel: int | None
    place: Place
    line: int | None


@dataclass(frozen=True, slots=True)
class ExportedProgram:
    """A StableHLO module.

    Attributes:
      operations: name -> how often it occurs in the text, without names that a dialect abbreviates (`return`, `call`).
      attributes: name with its dialect (`sdy.sharding`) -> how often it occurs in the text.
      collectives: each one once, in the order of the text, inside and outside loops and functions.
      products: the place of each matrix product and convolution, in the order of the text.
      unstated_products: how many of them do not state the sharding of their result in the next operation, as JAX does
        for each operation on Explicit axes.
      product_lines: for each source line, how many calls lead to matrix products and convolutions that it wrote.
      line_dtypes: for each source line, the dtypes of floating-point arrays that its operations take and give.
      element_types: the dtype of each tensor, and the first source line with one. An unknown dtype is as written.
      constraints: the sharding constraints with a source line, in the order of the text.
      custom_calls: targets, in the order of the text.
      donated: (argument, output) for every donated argument of `main`. The output is the one that takes its buffer
        (tf.aliasing_output), or None if the compiler can choose one (jax.buffer_donor).
      turns: kinds of the collectives that take turns with a matrix product in a round of a loop: see
        `stablehlo_loop_overlap`.
      rounded: pairs (output, argument). The output has only rounded elements of the argument: see `stablehlo_rounding`.
      dynamic: whether some tensor has a size that is not fixed, or an encoding, which can express a bound.
    """

    operations: Mapping[str, int]
    attributes: Mapping[str, int]
    collectives: tuple[ExportedCollective, ...]
    products: tuple[Place, ...]
    unstated_products: int
    product_lines: Mapping[int, int]
    line_dtypes: Mapping[int, frozenset[str]]
    element_types: Mapping[str, int | None]
    constraints: tuple[ShardingConstraint, ...]
    custom_calls: tuple[str, ...]
    donated: tuple[tuple[int, int | None], ...]
    turns: tuple[str, ...]
    rounded: tuple[tuple[int, int], ...]
    dynamic: bool


def read_stablehlo(text: str, source: str = "submission.py") -> ExportedProgram:
    """Read a module from the text of `exported.mlir_module()` or `lowered.as_text()`.

    Args:
      source: the name of the file that lines refer to.
    Raises:
      ProgramUnreadable: it is not a module, or an attribute has a name that could pass for HLO. XLA prints the keys of
        `mhlo.frontend_attributes` into HLO text as they are, so a key such as `a="b"} %c = f32[] add(` forges it.
    """
    tokens = cut_mlir(text)
    operations: Counter[str] = Counter()
    attributes: Counter[str] = Counter()
    collectives: list[ExportedCollective] = []
    products: list[Place] = []
    unstated_products = 0
    product_lines: Counter[int] = Counter()
    locations = Locations(text, source)
    rows = [(row, locations.of_row(row)) for row in text.splitlines()]
    places = Places(tokens)
    statements = Statements(tokens)
    custom_calls: list[str] = []
    donated: tuple[tuple[int, int | None], ...] = ()
    for at, name in _names(tokens):
        if _is_attribute(tokens, at):
            attributes[name] += 1
            continue
        operations[name] += 1
        if name in _COLLECTIVES:
            collectives.append(_collective(tokens, at, _COLLECTIVES[name], places.place(at), locations))
        elif name in _PRODUCTS:
            place = places.place(at)
            products.append(place)
            unstated_products += not _states_sharding(tokens, at)
            line = locations.after(tokens, at)
            if line is not None:
                product_lines[line] += place.inside + place.outside
        elif name == "stablehlo.custom_call":
            custom_calls.append(_target(tokens, at))
        elif name == "func.func" and "@main" in tokens.items[at + 1 : at + 3]:
            donated = _donated(tokens, tokens.items.index("@main", at) + 1)
    if "func.func" not in operations:
        raise ProgramUnreadable("the text contains no function, so it is not a StableHLO module")
    return ExportedProgram(
        operations,
        attributes,
        tuple(collectives),
        tuple(products),
        unstated_products,
        product_lines,
        _line_dtypes(rows),
        _element_types(tokens, rows),
        read_constraints(rows),
        tuple(custom_calls),
        donated,
        turns_as_written(statements, _COLLECTIVES, frozenset(_PRODUCTS)),
        rounded_arguments(statements),
        _has_dynamic_tensors(tokens),
    )


def _names(tokens: Tokens) -> Iterator[tuple[int, str]]:
    """Yield names with a dialect, bare (`stablehlo.add %0`) or quoted as an operation (`"stablehlo.case"(%0)`)."""
    for at in range(tokens.end):
        token = tokens[at]
        if token[0] == '"':
            if tokens[at + 1] == "=" and not _PLAIN.fullmatch(token[1:-1]):
                raise ProgramUnreadable(f"an attribute has the name {shown(token)}: letters, digits and _ - . only")
            # "name"( also occurs in locations: loc("jit(f)/add"(#loc1)), callsite("f"(#loc2) at #loc3).
            if tokens[at + 1] == "(" and (at == 0 or tokens[at - 1] not in {"(", "[", ",", "at"}):
                yield at, _unescaped(token)
        elif "." in token and _NAMESPACED.fullmatch(token):
            yield at, token


def _has_dynamic_tensors(tokens: Tokens) -> bool:
    for at in tokens.positions("tensor"):
        if tokens[at + 1] == "<":
            inside = tokens.items[at + 2 : tokens.partners[at + 1]]
            if "?" in inside or "," in inside:
                return True
    return False


def _states_sharding(tokens: Tokens, at: int) -> bool:
    """Whether the next statement is a sharding constraint on the result of the operation at `at`."""
    result = tokens[at - 2] if at >= 2 and tokens[at - 1] == "=" else ""
    at += 1
    while at < tokens.end and tokens[at] not in RETURNS:
        if tokens[at] == "=" and tokens[at - 1][:1] == "%":
            return tokens[at + 1] == "sdy.sharding_constraint" and tokens[at + 2] == result != ""
        at += 1
    return False


def _is_attribute(tokens: Tokens, at: int) -> bool:
    """Whether the name is a key in `{key = value, unit_key}`, rather than an operation."""
    return tokens[at + 1] == "=" or (
        at > 0 and tokens[at - 1] in {"{", ",", "<"} and tokens[at + 1] in {"}", ","} and tokens[at][0] != '"'
    )


def _line_dtypes(rows: Sequence[Row]) -> dict[int, frozenset[str]]:
    found: dict[int, set[str]] = {}
    for row, line in rows:
        if line is not None:
            dtypes = {_dtype(each) for each in _ELEMENT.findall(row)}
            found.setdefault(line, set()).update(each for each in dtypes if each[0] in "bf" and each in DTYPES)
    return {line: frozenset(dtypes) for line, dtypes in found.items()}


def _element_types(tokens: Tokens, rows: Sequence[Row]) -> dict[str, int | None]:
    """Read every tensor's type. The rows of the text, which names may imitate, only give the lines."""
    found: dict[str, int | None] = {}
    for at in tokens.positions("tensor"):
        if tokens[at + 1] == "<":
            match = _TENSOR.fullmatch("".join(_without_encoding(tokens, at + 1)))
            name = _dtype(match[2]) if match else "".join(_without_encoding(tokens, at + 1))
            found.setdefault(name, None)
    for row, line in rows:
        dtypes = {_dtype(name) for name in set(_ELEMENT_OF_ANY.findall(row))}
        without_line = [each for each in dtypes if found.get(each, 0) is None]
        found.update(dict.fromkeys(without_line, line))
    return found


def _without_encoding(tokens: Tokens, opening: int) -> list[str]:
    """The tokens of a tensor's type, whose bracket opens at `opening`. An encoding follows a comma."""
    inside = tokens.items[opening + 1 : tokens.partners[opening]]
    return inside[: inside.index(",")] if "," in inside else inside


def _collective(tokens: Tokens, at: int, kind: str, place: Place, locations: Locations) -> ExportedCollective:
    """Read the type, `(operands) -> results` or `type`, which follows attributes and regions."""
    start = at
    at += 1
    channel = None
    while tokens[at] != ":":
        # Here a bracket closes, or the next operation begins.
        if tokens[at] in {"", ")", "]", "}", ">", "return"} or _NAMESPACED.fullmatch(tokens[at]):
            raise tokens.error(start, "a collective with a type")
        end = behind(tokens, at)
        channel = _channel(tokens, at, end) if channel is None else channel
        at = end
    operands, at = _types(tokens, at + 1)
    results = operands
    if tokens[at] == "->":
        results, at = _types(tokens, at + 1)
    return ExportedCollective(kind, operands, results, channel, place, locations.after(tokens, at - 1))


def _channel(tokens: Tokens, start: int, end: int) -> int | None:
    """Read `channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>` among the attributes at `start`."""
    for index in range(start, end):
        if tokens[index] == "handle" and tokens[index + 1] == "=":
            number = integer(tokens[index + 2])
            return number if number is not None and number >= 0 else None
    return None


def _types(tokens: Tokens, at: int) -> tuple[tuple[Shape, ...], int]:
    """Read `type` or `(type, type)`. Return the tensors and the index after them."""
    if tokens[at] != "(":
        shape, at = _type(tokens, at)
        return ((shape,) if shape else ()), at
    end = tokens.partners[at]
    found: list[Shape] = []
    at += 1
    while at < end:
        shape, at = _type(tokens, at)
        if shape is not None:
            found.append(shape)
        if tokens[at] == ",":
            at += 1
        elif at != end:
            raise tokens.error(at, "',' or ')'")
    return tuple(found), end + 1


def _type(tokens: Tokens, at: int) -> tuple[Shape | None, int]:
    """Read a tensor's type; other types (`!stablehlo.token`) are None."""
    if tokens[at + 1] != "<":
        return None, at + 1
    end = tokens.partners[at + 1]
    if tokens[at] != "tensor":
        return None, end + 1
    match = _TENSOR.fullmatch("".join(_without_encoding(tokens, at + 1)))
    dims = [integer(size) for size in match[1].split("x")[:-1]] if match else []
    if match is None or None in dims or _dtype(match[2]) not in DTYPES:
        raise tokens.error(at + 2, "a tensor of a fixed shape and a known dtype")
    return Shape(_dtype(match[2]), tuple(size for size in dims if size is not None)), end + 1


def _dtype(name: str) -> str:
    """The HLO name of an MLIR dtype: i1 is pred, i32 is s32, ui8 is u8, f8E4M3FN is f8e4m3fn."""
    if name == "i1":
        return "pred"
    if re.fullmatch(r"u?i\d+", name):
        return name.replace("ui", "u") if name[0] == "u" else name.replace("i", "s")
    return _COMPLEX.get(name, name.lower())


def _target(tokens: Tokens, at: int) -> str:
    """The target of a custom call: `stablehlo.custom_call @Sharding(…)`, or the attribute call_target_name."""
    symbol = tokens[at + 1]
    if symbol[:1] == "@":
        return _unescaped(symbol[1:]) if symbol[1:2] == '"' else symbol[1:]
    end = at + 1
    while end < tokens.end and tokens[end] != ":":
        end = behind(tokens, end)
    for index in range(at, end):
        if tokens[index] == "call_target_name" and tokens[index + 1] == "=" and tokens[index + 2][:1] == '"':
            return _unescaped(tokens[index + 2])
    raise tokens.error(at, "a custom call with a target")


def _donated(tokens: Tokens, opening: int) -> tuple[tuple[int, int | None], ...]:
    """Read the arguments of `main`, `(%arg0: type {attributes}, …)`, which begin at `opening`."""
    if tokens[opening] != "(":
        raise tokens.error(opening, "the arguments of main")
    donated: list[tuple[int, int | None]] = []
    argument, at, end = 0, opening + 1, tokens.partners[opening]
    while at < end:
        if tokens[at] == ",":
            argument += 1
        elif tokens[at] == "{":
            inside = tokens.items[at + 1 : tokens.partners[at]]
            if _ALIASED in inside:
                donated.append((argument, integer("".join(inside[inside.index(_ALIASED) + 2 :][:1]))))
            elif _DONATED in inside and inside[inside.index(_DONATED) + 1 :][:2] == ["=", "true"]:
                donated.append((argument, None))
        at = behind(tokens, at)
    return tuple(donated)


def _unescaped(token: str) -> str:
    r"""The text of a quoted token: MLIR writes `\22` for a quotation mark."""
    return re.sub(r"\\([0-9A-Fa-f]{2}|.)", _character, token[1:-1], flags=re.DOTALL)


def _character(match: re.Match[str]) -> str:
    escape = match[1]
    return chr(int(escape, 16)) if len(escape) == 2 else {"n": "\n", "t": "\t"}.get(escape, escape)
