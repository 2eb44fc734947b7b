"""The wire between the judge and a runner: length-prefixed frames of a JSON manifest and raw array bytes.

A frame is `!IQ` (manifest bytes, payload bytes), then the manifest, then the payload: the C-order, little-endian bytes
of the arrays that the manifest names, one after another without gaps. Nothing on the wire is ever code: there is no
pickle in either direction, and the types of values are a closed list.

Both ends use this module. It goes behind the walls with the runner and, like the runner, imports nothing else of ours.
"""

import json
import math
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
# The JSON fields of a frame, and its named values. A reader of frames must check the form of both.
Message = dict[str, object]
Values = dict[str, object]
Frame = tuple[Message, Values]
# A value in a manifest, after `_payload_bytes` has checked it.
_Node = dict[str, Any]

HEADER = struct.Struct("!IQ")
MAX_MANIFEST_BYTES = 1 << 20
MAX_DEPTH = 32
MAX_NODES = 4096
MAX_RANK = 16
MAX_CASES = 64
# The most leaves of a program's state, and of what it returns.
MAX_LEAVES = 512
MAX_PATH = 200
# An empty array may still have long dimensions; NumPy refuses those whose product overflows.
_MAX_ELEMENTS = 1 << 40

DTYPES: dict[str, np.dtype[np.generic]] = {
    name: np.dtype(name)
    for name in (
        "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
    )
} | {
    name: np.dtype(getattr(ml_dtypes, name))
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz")
}


def unsendable(dtype: str) -> str:
    """Return the end of a sentence about a dtype that cannot cross the wire: its name, and the dtype to use instead."""
    wider = {"i": "int8", "u": "uint8"}.get(dtype[:1], "float32")
    return (
        f"{dtype[:40]}, which is not among the dtypes that can be returned. Return {wider}: `leaf.astype('{wider}')`."
    )


# `Foreign.type_name` begins with this if the value is an array whose dtype cannot cross the wire.
FOREIGN_DTYPE = "array of dtype "


class BadFrame(Exception):
    """The bytes are not a frame, or its parts contradict one another."""


class TooLarge(Exception):
    """The value or the frame exceeds a limit, which the message names."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """Stands for a value that cannot cross the wire; only the name of its type does."""

    type_name: str


class ArrayForm(TypedDict):
    """The shape and dtype of an array, which is not sent."""

    shape: Sequence[int]
    dtype: str


class Argument(TypedDict, total=False):
    """An argument that a program is exported for: `static`, or the form of an array with its spec.

    With `path`, it is a leaf of the argument that the path begins with.
    """

    static: object
    shape: Sequence[int]
    dtype: str
    spec: Sequence[str | list[str]]
    path: list[str]


class Stream(Protocol):
    """The part of a stream that `read_frame` uses."""

    def read(self, size: int, /) -> bytes | None: ...


Convert = Callable[[object], object]


def pack(message: Message, values: Values | None = None, *, convert: Convert | None = None) -> bytes:
    """Make one frame from JSON fields and named values.

    Args:
      message: JSON fields of the manifest. The key "values" is reserved.
      values: pytrees of None, bool, int, float, str, list, tuple, dict with str keys, and NumPy arrays. Anything else
        crosses as `Foreign`.
      convert: called on any other value, to convert it to one of these (a JAX array to a NumPy array).
    Raises:
      TooLarge: a value has over 4,096 nodes, or the manifest is over 1 MiB.
    """
    buffers: list[bytes] = []
    budget = [MAX_NODES]
    nodes = {name: _encode(value, buffers, budget, 0, convert) for name, value in (values or {}).items()}
    manifest = json.dumps({**message, "values": nodes}, separators=(",", ":"), allow_nan=False).encode()
    if len(manifest) > MAX_MANIFEST_BYTES:
        raise TooLarge(f"the manifest has {len(manifest):,} bytes; at most {MAX_MANIFEST_BYTES:,}")
    payload = b"".join(buffers)
    return HEADER.pack(len(manifest), len(payload)) + manifest + payload


def unpack_header(header: bytes, *, max_payload_bytes: int) -> tuple[int, int]:
    """Return the sizes that a header announces, manifest then payload, in bytes.

    Raises:
      TooLarge: one of them exceeds its limit. Nothing has been allocated for it.
    """
    manifest_bytes, payload_bytes = HEADER.unpack(header)
    if manifest_bytes > MAX_MANIFEST_BYTES:
        raise TooLarge(f"the header announces a manifest of {manifest_bytes:,} bytes; at most {MAX_MANIFEST_BYTES:,}")
    if payload_bytes > max_payload_bytes:
        raise TooLarge(f"the arrays have {payload_bytes:,} bytes in all; at most {max_payload_bytes:,}")
    return manifest_bytes, payload_bytes


def unpack_manifest(manifest: bytes, *, payload_bytes: int) -> Message:
    """Parse a manifest and check its sizes against the payload's.

    Raises:
      BadFrame: it is not JSON, does not have our form, or its arrays do not have exactly `payload_bytes` in all.
    """
    try:
        message = json.loads(
            manifest, parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=_without_duplicates
        )
    except (ValueError, RecursionError) as error:
        raise BadFrame(f"the manifest is not JSON: {type(error).__name__}") from None
    if not isinstance(message, dict) or not isinstance(message.get("values"), dict):
        raise BadFrame("the manifest is not an object with `values`")
    budget = [MAX_NODES]
    announced = sum(_payload_bytes(node, budget, 0) for node in message["values"].values())
    if announced != payload_bytes:
        raise BadFrame(f"the manifest names {announced:,} bytes of arrays, the payload has {payload_bytes:,}")
    return message


def unpack_values(message: Message, payload: bytes) -> Values:
    """Return the named values of a manifest that `unpack_manifest` has checked. Arrays are read-only views."""
    offset, nodes = [0], message["values"]
    assert isinstance(nodes, dict)
    return {name: _decode(node, payload, offset) for name, node in nodes.items()}


def read_frame(stream: Stream, *, max_payload_bytes: int) -> Frame:
    """Read one frame from a blocking stream.

    Raises:
      EOFError: the stream ended before the frame did.
      BadFrame, TooLarge: as in the three functions above.
    """
    manifest_bytes, payload_bytes = unpack_header(_exactly(stream, HEADER.size), max_payload_bytes=max_payload_bytes)
    message = unpack_manifest(_exactly(stream, manifest_bytes), payload_bytes=payload_bytes)
    return message, unpack_values(message, _exactly(stream, payload_bytes))


def leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield (leaf path, leaf) of a decoded value, depth first: `params/dense/kernel`, `0/1`, or `` for a bare leaf."""
    if isinstance(value, dict):
        children: Iterator[tuple[object, object]] = iter(value.items())
    elif isinstance(value, list | tuple):
        children = iter(enumerate(value))
    else:
        yield path, value
        return
    for key, child in children:
        yield from leaves(child, f"{path}/{key}" if path else str(key))


def _encode(value: object, buffers: list[bytes], budget: list[int], depth: int, convert: Convert | None) -> _Node:
    budget[0] -= 1
    if budget[0] < 0 or depth > MAX_DEPTH:
        raise TooLarge(f"the value has over {MAX_NODES:,} parts or is nested deeper than {MAX_DEPTH}")
    kind = type(value)
    if value is None:
        return {"t": "none"}
    if kind is bool or kind is str:
        return {"t": kind.__name__, "v": value}
    if kind is int:
        return {"t": "int", "v": str(value)} if -(2**63) <= value < 2**64 else _foreign(value)  # type: ignore[operator]
    if kind is float:
        return {"t": "float", "v": value.hex()}  # type: ignore[attr-defined]
    if kind is list or kind is tuple:
        items = [_encode(item, buffers, budget, depth + 1, convert) for item in value]  # type: ignore[attr-defined]
        return {"t": kind.__name__, "items": items}
    if kind is dict:
        if not all(type(key) is str for key in value):  # type: ignore[attr-defined]
            return {"t": "foreign", "type": "dict with keys that are not strings"}
        pairs = [[key, _encode(item, buffers, budget, depth + 1, convert)] for key, item in value.items()]  # type: ignore[attr-defined]
        return {"t": "dict", "items": pairs}
    if isinstance(value, np.generic):
        value, kind = np.asarray(value), np.ndarray
    if kind is np.ndarray:
        return _encode_array(value, buffers)  # type: ignore[arg-type]
    if kind is Foreign:
        return {"t": "foreign", "type": value.type_name}  # type: ignore[attr-defined]
    if convert is not None:
        return _encode(convert(value), buffers, budget, depth, None)
    return _foreign(value)


def _encode_array(value: Array, buffers: list[bytes]) -> _Node:
    name = value.dtype.name
    if DTYPES.get(name) != value.dtype.newbyteorder("="):
        return {"t": "foreign", "type": f"{FOREIGN_DTYPE}{name}"[:80]}
    if not _is_shape(value.shape):
        return {"t": "foreign", "type": f"array of rank {value.ndim} with {value.size} elements"[:80]}
    buffers.append(np.ascontiguousarray(value, dtype=DTYPES[name]).tobytes())
    return {"t": "array", "dtype": name, "shape": list(value.shape)}


def _foreign(value: object) -> _Node:
    return {"t": "foreign", "type": f"{type(value).__module__}.{type(value).__qualname__}"[:80]}


def _payload_bytes(node: object, budget: list[int], depth: int) -> int:
    """Validate one node and everything below it; return the size of its arrays in bytes."""
    budget[0] -= 1
    if budget[0] < 0 or depth > MAX_DEPTH:
        raise BadFrame("too many parts, or nested too deep")
    match node:
        case {"t": "array", "dtype": str(dtype), "shape": list(shape), **rest} if not rest:
            if dtype not in DTYPES:
                raise BadFrame("an array of a dtype that is not allowed")
            if not _is_shape(shape):
                raise BadFrame("a shape that is not a list of sizes, or that no array has")
            return math.prod(shape) * DTYPES[dtype].itemsize
        case {"t": "list" | "tuple", "items": list(items), **rest} if not rest:
            return sum(_payload_bytes(item, budget, depth + 1) for item in items)
        case {"t": "dict", "items": list(items), **rest} if not rest:
            if not all(isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) for pair in items):
                raise BadFrame("a dict whose items are not pairs of a string and a value")
            if len({pair[0] for pair in items}) < len(items):
                raise BadFrame("a dict with a key that occurs twice")
            return sum(_payload_bytes(pair[1], budget, depth + 1) for pair in items)
        case {"t": "none", **rest} if not rest:
            return 0
        case {"t": "bool", "v": bool(), **rest} if not rest:
            return 0
        case {"t": "str", "v": str(), **rest} if not rest:
            return 0
        case {"t": "int", "v": str(text), **rest} if not rest and _is_int(text):
            return 0
        case {"t": "float", "v": str(text), **rest} if not rest and _is_float(text):
            return 0
        case {"t": "foreign", "type": str(name), **rest} if not rest and len(name) <= 80:
            return 0
    raise BadFrame("a value of unknown form")


def _decode(node: _Node, payload: bytes, offset: list[int]) -> object:
    match node["t"]:
        case "array":
            dtype, shape = DTYPES[node["dtype"]], tuple(node["shape"])
            count = math.prod(shape)
            start = offset[0]
            offset[0] = start + count * dtype.itemsize
            # Slice first, because frombuffer refuses an empty buffer, and an offset at its end.
            raw = payload[start : offset[0]]
            return np.frombuffer(raw, dtype=dtype).reshape(shape) if count else np.zeros(shape, dtype)
        case "list":
            return [_decode(item, payload, offset) for item in node["items"]]
        case "tuple":
            return tuple(_decode(item, payload, offset) for item in node["items"])
        case "dict":
            return {key: _decode(item, payload, offset) for key, item in node["items"]}
        case "none":
            return None
        case "int":
            return int(node["v"])
        case "float":
            return float.fromhex(node["v"])
        case "foreign":
            return Foreign(node["type"])
    return node["v"]


def _is_shape(shape: Sequence[object]) -> bool:
    """Whether NumPy can make an array of this shape, even an empty one."""
    if len(shape) > MAX_RANK:
        return False
    sizes = [size for size in shape if type(size) is int and 0 <= size < _MAX_ELEMENTS]
    return len(sizes) == len(shape) and math.prod(max(size, 1) for size in sizes) < _MAX_ELEMENTS


def _is_int(text: str) -> bool:
    if len(text) > 21 or not text.isascii() or not text.removeprefix("-").isdecimal():
        return False
    return -(2**63) <= int(text) < 2**64


def _is_float(text: str) -> bool:
    try:
        float.fromhex(text[:40])
    except (ValueError, OverflowError):
        return False
    return len(text) <= 40


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is too large")
    return number


def _without_duplicates(pairs: list[tuple[str, object]]) -> Message:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key occurs twice")
    return made


def _exactly(stream: Stream, size: int) -> bytes:
    parts: list[bytes] = []
    missing = size
    while missing:
        part = stream.read(min(missing, 1 << 20))
        if not part:
            raise EOFError("the stream ended inside a frame")
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)
