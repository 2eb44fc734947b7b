import contextlib
import io
import json

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grader.core import wire
from grader.core.wire import BadFrame, Foreign, TooLarge

scalars = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(max_size=20)
)
arrays = hnp.arrays(
    st.sampled_from([dtype for name, dtype in wire.DTYPES.items() if "float8" not in name and name != "bfloat16"]),
    hnp.array_shapes(min_dims=0, min_side=0, max_side=4),
)
values = st.recursive(
    scalars | arrays,
    lambda inner: (
        st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


def read(frame: bytes, max_payload_bytes: int = 1 << 20) -> dict[str, object]:
    return wire.read_frame(io.BytesIO(frame), max_payload_bytes=max_payload_bytes)[1]


def frame_of(manifest: object, payload: bytes = b"") -> bytes:
    text = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    return wire.HEADER.pack(len(text), len(payload)) + text + payload


def assert_same(one: object, other: object) -> None:
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert one.tobytes() == other.tobytes()
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, list | tuple):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            assert_same(left, right)
    else:
        assert one == other


@given(values)
def test_what_is_sent_arrives(value):
    assert_same(value, read(wire.pack({}, {"value": value}))["value"])


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_small_floats_keep_their_dtype(name):
    sent = np.arange(4).astype(getattr(ml_dtypes, name))
    assert_same(sent, read(wire.pack({}, {"value": sent}))["value"])


def test_nan_and_infinity_arrive_as_python_floats():
    arrived = read(wire.pack({}, {"value": [float("nan"), float("inf"), -0.0]}))["value"]
    assert np.isnan(arrived[0])
    assert arrived[1] == float("inf")
    assert str(arrived[2]) == "-0.0"


@given(st.binary(max_size=4096))
def test_any_bytes_are_a_frame_or_a_bad_frame(data):
    with contextlib.suppress(BadFrame, TooLarge, EOFError):
        wire.read_frame(io.BytesIO(data), max_payload_bytes=1024)


@given(st.binary(max_size=300), st.integers(0, 200))
def test_any_manifest_is_read_or_refused(manifest, payload_bytes):
    with contextlib.suppress(BadFrame):
        wire.unpack_manifest(manifest, payload_bytes=payload_bytes)


def test_a_header_is_refused_before_anything_is_allocated():
    with pytest.raises(TooLarge, match="arrays"):
        wire.unpack_header(wire.HEADER.pack(10, 1 << 62), max_payload_bytes=1024)
    with pytest.raises(TooLarge, match="manifest"):
        wire.unpack_header(wire.HEADER.pack(1 << 31, 0), max_payload_bytes=1024)


@pytest.mark.parametrize(
    "node",
    [
        {"t": "array", "dtype": "object", "shape": [1]},
        {"t": "array", "dtype": "float32", "shape": [-1]},
        {"t": "array", "dtype": "float32", "shape": [True]},
        {"t": "array", "dtype": "float32", "shape": [1.0]},
        {"t": "array", "dtype": "float32", "shape": [1], "extra": 0},
        {"t": "array", "dtype": "float32", "shape": [0] * 40},
        {"t": "pickle", "v": "gASVAAAA"},
        {"t": "int", "v": "٣"},
        {"t": "int", "v": "9" * 5000},
        {"t": "float", "v": "not"},
        {"t": "dict", "items": [[1, {"t": "none"}]]},
        {"t": "foreign", "type": "x" * 81},
        {"t": []},
        [],
        None,
    ],
)
def test_a_value_of_another_form_is_refused(node):
    with pytest.raises(BadFrame):
        read(frame_of({"values": {"value": node}}))


def test_a_payload_longer_or_shorter_than_named_is_refused():
    node = {"t": "array", "dtype": "float32", "shape": [2]}
    for size in (0, 7, 9):
        with pytest.raises(BadFrame, match="8 bytes"):
            read(frame_of({"values": {"value": node}}, b"\0" * size))


def test_deep_nesting_is_refused_by_both_ends():
    value: object = 1
    node: object = {"t": "none"}
    for _ in range(100):
        value, node = [value], {"t": "list", "items": [node]}
    with pytest.raises(TooLarge):
        wire.pack({}, {"value": value})
    with pytest.raises(BadFrame):
        read(frame_of({"values": {"value": node}}))
    with pytest.raises(BadFrame):
        read(frame_of(b'{"values":{"value":' + b"[" * 50_000))


def test_a_cycle_is_too_large():
    value: list[object] = []
    value.append(value)
    with pytest.raises(TooLarge):
        wire.pack({}, {"value": value})


def test_what_may_not_cross_arrives_as_the_name_of_its_type():
    class Anything:
        def __reduce__(self):
            raise AssertionError("never pickled")

    sent = [Anything(), np.asarray([Anything()]), {1: 2}, 2**70, b"bytes"]
    assert all(isinstance(item, Foreign) for item in read(wire.pack({}, {"value": sent}))["value"])
