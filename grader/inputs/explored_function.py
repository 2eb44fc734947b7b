"""A function to explore without a problem: its mesh and inputs, and how people write them.

An input is written as `x: float32[1024, 512] P("data", None)`, and a mesh as `data=4, model=2`. A pytree has one line
per leaf, as in `state/params/w: float32[512]`.
"""

import ast
import math
import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, StringConstraints, ValidationError

from grader.core.strict_model import Closed
from grader.core.wire import DTYPES, MAX_RANK
from grader.package.package import Name, Spec

MAX_DEVICES = 256
_MAX_AXES = 4
_MAX_INPUTS = 64
_MAX_BYTES = 1 << 40
_AXIS = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*(\d{1,6})\s*", re.ASCII)
# The name of an argument, or the path of one of its leaves.
_PATH = r"[A-Za-z_]\w*(?:/\w+){0,7}"
_INPUT = re.compile(rf"\s*({_PATH})\s*:\s*(\w+)\s*\[([\d\s,]*)\]\s*(?:P\((.*)\))?\s*", re.ASCII)
_LONGEST = 300


class FunctionInput(Closed):
    """An array: an argument or, with a name such as `state/params/w`, a leaf of the argument `state`.

    `spec` has one entry per dimension, from the first: an axis, several axes, or "". Dimensions without an entry are
    not split.
    """

    name: Annotated[str, StringConstraints(pattern=rf"^{_PATH}$".replace(r"\w", "[A-Za-z0-9_]"), max_length=200)]
    # `faults_of` rejects other dtypes, with a message that names the input.
    dtype: Annotated[str, Field(max_length=40, json_schema_extra={"enum": sorted(DTYPES)})]
    shape: Annotated[list[Annotated[int, Field(ge=1, le=1 << 31)]], Field(max_length=MAX_RANK)]
    spec: Annotated[Spec, Field(max_length=MAX_RANK)] = Field(default_factory=list)

    def __str__(self) -> str:
        placed = f" P({', '.join(map(_entry_text, self.spec))})" if self.spec else ""
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.shape))}]{placed}"


class Function(Closed):
    """The function `name` of a source. It takes the inputs in this order, after the mesh if its first parameter is
    named `mesh`. Leaves of one argument are passed as one input, in the first leaf's position.
    """

    name: Name
    # `faults_of` limits the number of devices of all axes together.
    mesh: Annotated[
        dict[Name, Annotated[int, Field(ge=1, le=MAX_DEVICES)]],
        Field(min_length=1, max_length=_MAX_AXES, json_schema_extra={"additionalProperties": False}),
    ]
    inputs: Annotated[list[FunctionInput], Field(min_length=1, max_length=_MAX_INPUTS)]

    @property
    def devices(self) -> int:
        return math.prod(self.mesh.values())

    @property
    def mesh_text(self) -> str:
        return ", ".join(f"{axis}={size}" for axis, size in self.mesh.items())

    @property
    def inputs_text(self) -> str:
        """One input on each line."""
        return "\n".join(map(str, self.inputs))


def read_function(name: str, mesh: str, inputs: str) -> Function:
    """Read what a person wrote, one input per line. Empty lines are skipped.

    Raises:
      ValueError: something cannot be read or does not fit the rest; the message says what, where, and what to write.
    """
    name = name.strip()
    if not (name.isidentifier() and name.isascii()):
        raise ValueError(
            f"{_short(name)} cannot be the name of a function. Write one that the source defines, such as f."
        )
    try:
        read = [_read_input(number, line) for number, line in enumerate(inputs.splitlines(), 1) if line.strip()]
        if not read:
            raise ValueError('There is no input. Write one on each line, as in x: float32[1024, 512] P("data").')
        function = Function(name=name, mesh=_read_mesh(mesh), inputs=read)
    except ValidationError as error:
        raise ValueError(_first_fault(error)) from None
    if faults := faults_of(function):
        raise ValueError(faults[0])
    return function


def faults_of(function: Function) -> list[str]:
    """Say why these inputs cannot be placed on this mesh. Each message names the input and the remedy."""
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
    return [fault for each in function.inputs for fault in _faults_of_input(each, function.mesh)]


def _faults_of_input(given: FunctionInput, mesh: dict[str, int]) -> list[str]:
    if given.dtype not in DTYPES:
        return [f"{given.name}: there is no dtype {given.dtype}. Use one such as float32, bfloat16 or int32."]
    size = math.prod(given.shape) * DTYPES[given.dtype].itemsize
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


def _read_mesh(text: str) -> dict[str, int]:
    mesh: dict[str, int] = {}
    for part in text.split(","):
        match = _AXIS.fullmatch(part)
        if match is None:
            raise ValueError(f"The mesh cannot be read at {_short(part)}. Write it as data=4, model=2.")
        axis, size = match.groups()
        if axis in mesh:
            raise ValueError(f"The mesh has two axes named {axis}. Give each axis a name of its own.")
        if int(size) < 1:
            raise ValueError(f"The axis {axis} has no devices. Give it at least one.")
        if int(size) > MAX_DEVICES:
            raise ValueError(f"The axis {axis} has {size} devices. At most {MAX_DEVICES} are available.")
        mesh[axis] = int(size)
    return mesh


def _read_input(number: int, line: str) -> FunctionInput:
    match = _INPUT.fullmatch(line) if len(line) <= _LONGEST else None
    if match is None:
        raise ValueError(
            f'Line {number} of the inputs cannot be read: {_short(line)}. Write it as x: float32[1024, 512] P("data").'
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
