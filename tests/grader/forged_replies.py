"""Frames that a hostile process writes instead of the runner, and a sandbox whose sessions read them.

The sizes in a frame are right: the header fits, and the payload has the bytes that the manifest's small arrays name.
Everything else can be wrong: types of values, numbers that JSON lacks, repeated keys, impossible shapes.
"""

import json
import math
import os
import signal
import socket
import threading
from typing import Any

from hypothesis import strategies as st

from grader.core import wire
from grader.core.context import NEVER, Stop
from grader.package.package import Limits
from grader.sandbox.null_sandbox import NullSession
from grader.sandbox.protocol import RunnerSpec
from grader.sandbox.session import ForkSession
from grader.sandbox.zygote import Fork

_SMALL = 1 << 12

numbers = st.integers(-(10**40), 10**40) | st.floats() | st.sampled_from([10**400, 2**63, -1, 0, True])
texts = st.text(max_size=8) | st.sampled_from(["", "\ud800", "a\0b", "x" * 5000, "error", "9" * 30, "nan", "1e999"])
anything = st.recursive(
    st.none() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
shapes = st.lists(st.integers(0, 3), max_size=3) | st.lists(
    st.sampled_from([0, 1, 2, -1, 2**31, 2**39, 2**40, 2**63]), max_size=40
)
array_nodes = st.fixed_dictionaries(
    {"t": st.just("array"), "dtype": st.sampled_from([*wire.DTYPES, "object", "int4"]), "shape": shapes}
)
leaf_nodes = (
    array_nodes
    | st.sampled_from([{"t": "none"}, {"t": "foreign", "type": "x"}, {"t": "bool", "v": True}])
    | st.builds(lambda text: {"t": "int", "v": text}, st.integers().map(str) | texts)
    | st.builds(lambda text: {"t": "float", "v": text}, st.floats().map(float.hex) | texts)
    | st.builds(lambda text: {"t": "str", "v": text}, texts)
    | anything
)


def _nest(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    rows = st.fixed_dictionaries({"t": st.sampled_from(["list", "tuple"]), "items": st.lists(inner, max_size=3)})
    pairs = st.lists(st.tuples(texts, inner).map(list), max_size=3)
    return rows | st.fixed_dictionaries({"t": st.just("dict"), "items": pairs})


nodes = st.recursive(leaf_nodes, _nest, max_leaves=6)


def deep(depth: int) -> Any:
    node: Any = {"t": "none"}
    for _ in range(depth):
        node = {"t": "list", "items": [node]}
    return node


def node_of(value: object) -> Any:
    """The manifest node that our own runner would send for a value."""
    return wire._encode(value, [], [wire.MAX_NODES], 0, None)


def replies(values: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Messages: successes with some of `values`, faults, and messages that are neither."""
    good = st.fixed_dictionaries({"ok": st.just(True) | anything, "values": st.fixed_dictionaries({}, optional=values)})
    reasons = st.sampled_from(["error", "syntax_error", "memory_limit", "wrong_value", "killed"]) | anything
    frames = st.fixed_dictionaries({"line": anything, "function": anything, "text": anything}) | anything
    detail = st.fixed_dictionaries(
        {}, optional={"type": anything, "traceback": st.lists(frames, max_size=3), "line": anything}
    )
    bad = st.fixed_dictionaries(
        {"ok": st.just(False), "reason": reasons, "message": texts | anything, "detail": detail | anything}
    )
    return good | bad.map(lambda message: {**message, "values": {}}) | st.dictionaries(texts, anything, max_size=3)


def frame_of(message: dict[str, Any], payload: bytes | None = None) -> bytes:
    manifest = json.dumps(message).encode()
    payload = bytes(_payload_bytes(message)) if payload is None else payload
    return wire.HEADER.pack(len(manifest), len(payload)) + manifest + payload


def _payload_bytes(node: Any) -> int:
    if isinstance(node, list):
        return sum(map(_payload_bytes, node))
    if not isinstance(node, dict):
        return 0
    if node.get("t") == "array" and isinstance(node.get("shape"), list) and node.get("dtype") in wire.DTYPES:
        sizes = node["shape"]
        if all(type(size) is int and size >= 0 for size in sizes) and math.prod(sizes) <= _SMALL:
            return math.prod(sizes) * wire.DTYPES[node["dtype"]].itemsize
    return sum(map(_payload_bytes, node.values()))


class _Exit(threading.Event):
    """The end of a process, which it reaches as soon as someone waits for it."""

    def wait(self, timeout: float | None = None) -> bool:
        self.set()
        return True


class _ForgedFork(Fork):
    """A process that wrote its frames and then ended itself, unless it is killed before that."""

    def kill(self) -> None:
        self.killed = True
        if not self.ended.is_set():
            self.status = -signal.SIGKILL
            self.ended.set()


class ForgedSandbox:
    """Each session reads `frames` in turn, whatever it requested, and then the end of its runner.

    The process has printed `output` before the first request.
    """

    walls: tuple[str, ...] = ()

    def __init__(self, frames: list[bytes], verifier: NullSession | None = None, *, output: bytes = b"") -> None:
        self._frames = frames
        self._verifier = verifier
        self._output = output

    def warm(self, spec: RunnerSpec) -> None:
        return None

    def open(self, spec: RunnerSpec, stop: Stop = NEVER) -> ForkSession:
        ours, theirs = socket.socketpair()
        outputs = [os.pipe() for _ in range(2)]
        fork = _ForgedFork(0, ours, outputs[0][0], outputs[1][0], pid=0, status=0, ended=_Exit())
        os.write(outputs[0][1], self._output)
        theirs.close()
        for _, end in outputs:
            os.close(end)
        session = ForkSession(fork)
        session.charge(Limits(time_s=600, wall_s=1200, memory_mb=1 << 16, output_mb=1), stop)
        session._inbox += b"".join(self._frames)
        return session

    def verifier(self, *args: object, **options: object) -> NullSession:
        if self._verifier is None:
            raise AssertionError("no verifier is asked")
        return self._verifier
