"""A function to explore without a problem: its mesh and inputs, and how people write them.

An array is written as `x: float32[1024, 512] P("data", None)`, another value as `steps = 4`, and a mesh as
`data=4, model=2`, with `!` after an Explicit axis. A pytree has one line per leaf, as in
`state/params/w: float32[512]`.
"""

import ast
import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import (
    Discriminator,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    StringConstraints,
    Tag,
    ValidationError,
)

from grader.core.item_sizes import LEAF_DTYPES, bytes_of
from grader.core.strict_model import StrictModel
from grader.core.wire import MAX_RANK, Argument
from grader.inputs.module_rules import MAX_MODULES, fault_of_modules
from grader.package.package import Name, Spec

MAX_DEVICES = 256
_MAX_AXES = 4
_MAX_INPUTS = 1024
_MAX_BYTES = 1 << 40
_AXIS = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*(\d{1,6})\s*(!?)\s*", re.ASCII)
_MOST_INT = 1 << 63
# The name of an argument, or the path of one of its leaves.
_PATH = r"[A-Za-z_]\w*(?:/\w+){0,7}"
_INPUT = re.compile(rf"\s*({_PATH})\s*:\s*(\w+(?:<\w+>)?)\s*\[([\d\s,]*)\]\s*(?:P\((.*)\))?\s*", re.ASCII)
_STATIC = re.compile(rf"\s*({_PATH})\s*=(?!=)(.*)", re.ASCII)
_LONGEST = 300
_MODULE_NAME = {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}


_Path = Annotated[str, StringConstraints(pattern=rf"^{_PATH}$".replace(r"\w", "[A-Za-z0-9_]"), max_length=200)]


class FunctionInput(StrictModel):
    """An array: an argument or, with a name such as `state/params/w`, a leaf of the argument `state`.

    `spec` has one entry per dimension, from the first: an axis, several axes, or "". Dimensions without an entry are
    not split.
    """

    name: _Path
    # `faults_of` rejects other dtypes, with a message that names the input.
    dtype: Annotated[str, Field(max_length=40, json_schema_extra={"enum": sorted(LEAF_DTYPES)})]
    shape: Annotated[list[Annotated[int, Field(ge=1, le=1 << 31)]], Field(max_length=MAX_RANK)]
    spec: Annotated[Spec, Field(max_length=MAX_RANK)] = Field(default_factory=list)

    def __str__(self) -> str:
        placed = f" P({', '.join(map(_entry_text, self.spec))})" if self.spec else ""
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.shape))}]{placed}"


class StaticInput(StrictModel):
    """An argument that is not an array, such as one of `static_argnames`: a number, a string, a bool or None."""

    name: _Path
    value: (
        StrictBool
        | Annotated[StrictInt, Field(gt=-_MOST_INT, lt=_MOST_INT)]
        | Annotated[StrictFloat, Field(allow_inf_nan=False)]
        | Annotated[StrictStr, Field(max_length=200)]
        | None
    )

    def __str__(self) -> str:
        return f"{self.name} = {self.value!r}"


def _kind_of(given: Any) -> str:
    return "static" if isinstance(given, StaticInput) or (isinstance(given, dict) and "value" in given) else "array"


_AnyInput = Annotated[
    Annotated[FunctionInput, Tag("array")] | Annotated[StaticInput, Tag("static")], Discriminator(_kind_of)
]


class Function(StrictModel):
    """The function `name` of a source. It takes the mesh, if its first parameter is named `mesh`; then the state, if
    the source's function `init` makes one; then the inputs in this order. Leaves of one argument are passed as one
    input, in the first leaf's position.

    The axes in `explicit` are Explicit. If there are none, the source decides. `modules` has the sources of further
    modules that the source can import, by their names.
    """

    name: Name
    # `faults_of` limits the number of devices of all axes together.
    mesh: Annotated[
        dict[Name, Annotated[int, Field(ge=1, le=MAX_DEVICES)]],
        Field(min_length=1, max_length=_MAX_AXES, json_schema_extra={"additionalProperties": False}),
    ]
    # Without `init`, `faults_of` requires at least one.
    inputs: Annotated[list[_AnyInput], Field(max_length=_MAX_INPUTS)]
    explicit: Annotated[list[Name], Field(max_length=_MAX_AXES)] = Field(default_factory=list)
    init: Name | None = None
    # `fault_of_modules` limits names and sizes, with a message for each.
    modules: Annotated[
        dict[str, str], Field(json_schema_extra={"maxProperties": MAX_MODULES, "propertyNames": _MODULE_NAME})
    ] = Field(default_factory=dict)

    @property
    def devices(self) -> int:
        return math.prod(self.mesh.values())

    @property
    def mesh_text(self) -> str:
        return ", ".join(f"{axis}={size}{'!' * (axis in self.explicit)}" for axis, size in self.mesh.items())

    @property
    def inputs_text(self) -> str:
        """The inputs as text, one on each line."""
        return "\n".join(map(str, self.inputs))


def arguments_of(function: Function) -> tuple[Argument, ...]:
    """The inputs in the form in which a runner takes them."""
    return tuple(
        Argument(static=each.value, path=[each.name])
        if isinstance(each, StaticInput)
        else Argument(shape=each.shape, dtype=each.dtype, spec=each.spec, path=each.name.split("/"))
        for each in function.inputs
    )


def read_function(
    name: str, mesh: str, inputs: str, init: str = "", modules: Mapping[str, str] | None = None
) -> Function:
    """Read what a person wrote, one input per line. Empty lines are skipped. An empty `init` means that there is none.

    Raises:
      ValueError: something cannot be read or does not fit the rest; the message says what, where, and what to write.
    """
    name, init = name.strip(), init.strip()
    for each in (name, *(init,) * bool(init)):
        if not (each.isidentifier() and each.isascii()):
            raise ValueError(
                f"{_short(each)} cannot be the name of a function. Write one that the source defines, such as f."
            )
    try:
        read = [_read_input(number, line) for number, line in enumerate(inputs.splitlines(), 1) if line.strip()]
        axes, explicit = _read_mesh(mesh)
        function = Function(
            name=name, mesh=axes, inputs=read, explicit=explicit, init=init or None, modules=dict(modules or {})
        )
    except ValidationError as error:
        raise ValueError(_first_fault(error)) from None
    if faults := faults_of(function):
        raise ValueError(faults[0])
    return function


def faults_of(function: Function) -> list[str]:
    """Say why these inputs cannot be placed on this mesh, or what is wrong with the modules. Each message names the
    input or the module, and the remedy.
    """
    if not function.inputs and function.init is None:
        return ['There is no input. Write one on each line, as in x: float32[1024, 512] P("data").']
    if unknown := [axis for axis in function.explicit if axis not in function.mesh]:
        return [
            f"The mesh has no axis {unknown[0]!r}, so it cannot be Explicit. Its axes are {', '.join(function.mesh)}."
        ]
    if function.devices > MAX_DEVICES:
        return [f"The mesh {function.mesh_text} has {function.devices} devices. At most {MAX_DEVICES} are available."]
    twice = _repeated([each.name for each in function.inputs])
    if twice is not None:
        return [f"Two inputs have the name {twice}. Give each input a name of its own."]
    names = {each.name for each in function.inputs}
    for name in names:
        parts = name.split("/")
        if inside := names & {"/".join(parts[:end]) for end in range(1, len(parts))}:
            return [f"{inside.pop()} is an array, so it cannot contain {name}. Give one of the two another name."]
    faults = [fault for each in function.inputs for fault in _faults_of_input(each, function.mesh)]
    fault = fault_of_modules(function.modules)
    return faults if fault is None else [*faults, fault]


def _faults_of_input(given: FunctionInput | StaticInput, mesh: dict[str, int]) -> list[str]:
    if isinstance(given, StaticInput):
        inside = "/" in given.name
        return [f"{given.name}: only arrays can be leaves of an argument. Name a whole argument."] * inside
    if given.dtype not in LEAF_DTYPES:
        return [f"{given.name}: there is no dtype {given.dtype}. Use one such as float32, bfloat16 or int32."]
    size = bytes_of(math.prod(given.shape), given.dtype)
    if size > _MAX_BYTES:
        return [f"{given.name} has {size:,} bytes. At most {_MAX_BYTES:,} are accepted."]
    if len(given.spec) > len(given.shape):
        return [
            f"{given.name}: its spec has {len(given.spec)} entries, and its shape {len(given.shape)} "
            f"dimension{'s' * (len(given.shape) != 1)}. Give at most one entry for each dimension."
        ]
    axes = [axis for entry in given.spec for axis in _axes_of(entry)]
    for axis in axes:
        if axis not in mesh:
            return [f"{given.name}: the mesh has no axis {axis!r}. Its axes are {', '.join(mesh)}."]
    twice = _repeated(axes)
    if twice is not None:
        return [f"{given.name}: its spec names the axis {twice} twice. An axis can split only one dimension."]
    for number, (entry, dimension) in enumerate(zip(given.spec, given.shape, strict=False)):
        parts = math.prod(mesh[axis] for axis in _axes_of(entry))
        if dimension % parts:
            over = " and ".join(_axes_of(entry))
            return [
                f"{given.name}: dimension {number} has {dimension} elements, which {over} cannot split into {parts} "
                f"equal parts. Choose a multiple of {parts}."
            ]
    return []


def _read_mesh(text: str) -> tuple[dict[str, int], list[str]]:
    """The size of each axis, and the axes marked as Explicit."""
    mesh: dict[str, int] = {}
    explicit: list[str] = []
    for part in text.split(","):
        match = _AXIS.fullmatch(part)
        if match is None:
            raise ValueError(f"The mesh cannot be read at {_short(part)}. Write it as data=4, model=2.")
        axis, size, mark = match.groups()
        if axis in mesh:
            raise ValueError(f"The mesh has two axes named {axis}. Give each axis a name of its own.")
        if int(size) < 1:
            raise ValueError(f"The axis {axis} has no devices. Give it at least one.")
        if int(size) > MAX_DEVICES:
            raise ValueError(f"The axis {axis} has {size} devices. At most {MAX_DEVICES} are available.")
        mesh[axis] = int(size)
        explicit += [axis] * bool(mark)
    return mesh, explicit


def _read_input(number: int, line: str) -> FunctionInput | StaticInput:
    if len(line) <= _LONGEST and (static := _STATIC.fullmatch(line)):
        return _read_static(number, *static.groups())
    match = _INPUT.fullmatch(line) if len(line) <= _LONGEST else None
    if match is None:
        raise ValueError(
            f'Line {number} of the inputs cannot be read: {_short(line)}. Write it as x: float32[1024, 512] P("data"), '
            "or, if it is not an array, as steps = 4."
        )
    name, dtype, dimensions, spec = match.groups()
    sizes = [each.strip() for each in dimensions.split(",")]
    if sizes[-1] == "":
        sizes.pop()
    if not all(each.isdigit() and int(each) > 0 for each in sizes):
        raise ValueError(
            f"Line {number} of the inputs: the shape [{dimensions}] cannot be read. Write positive whole numbers with "
            "commas between them, as in [1024, 512]."
        )
    return FunctionInput(name=name, dtype=dtype, shape=[int(each) for each in sizes], spec=_read_spec(number, spec))


def _read_static(number: int, name: str, text: str) -> StaticInput:
    try:
        return StaticInput(name=name, value=ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, MemoryError, RecursionError):  # a ValidationError is a ValueError
        raise ValueError(
            f"Line {number} of the inputs: the value {_short(text)} of {name} cannot be read. Write a number, a string "
            "in quotes, True, False or None."
        ) from None


def _read_spec(number: int, text: str | None) -> list[str | list[str]]:
    try:
        entries = ast.literal_eval(f"[{text or ''}]")
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        entries = None
    if not isinstance(entries, list) or not all(_is_entry(each) for each in entries):
        raise ValueError(
            f"Line {number} of the inputs: the spec P({_short(text or '')[1:-1]}) cannot be read. An entry is an axis "
            'in quotes, several axes in parentheses, or None, as in P("data", None) or P(("data", "model")).'
        )
    return [list(each) if isinstance(each, tuple | list) else each or "" for each in entries]


def _is_entry(entry: object) -> bool:
    if isinstance(entry, tuple | list):
        return bool(entry) and all(isinstance(axis, str) and axis for axis in entry)
    return entry is None or isinstance(entry, str)


def _axes_of(entry: str | Sequence[str]) -> list[str]:
    return [entry] if isinstance(entry, str) and entry else list(entry)


def _entry_text(entry: str | Sequence[str]) -> str:
    axes = _axes_of(entry)
    quoted = [f'"{axis}"' for axis in axes]
    return "None" if not axes else quoted[0] if len(axes) == 1 else f"({', '.join(quoted)})"


def _repeated(names: Sequence[str]) -> str | None:
    return next((name for number, name in enumerate(names) if name in names[:number]), None)


def _short(text: str) -> str:
    return repr(text.strip()[:80])


def _first_fault(error: ValidationError) -> str:
    first = error.errors()[0]
    where = " ".join(str(part) for part in first["loc"] if not isinstance(part, int))
    return f"{where}: {first['msg']}." if where else f"{first['msg']}."
