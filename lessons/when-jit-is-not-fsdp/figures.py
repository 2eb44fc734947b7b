"""Draws what a device multiplies and sends in a jitted step, by the rows of its batch, from the compiled steps."""

import math
from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from grader.program.census import Census, take_census
from tests.lessons.drawing import BAR_HEIGHT, bar, rect, svg, text

_MESH = Mesh(jax.devices(), ("x",))
_ROWS = (32, 64, 96, 128, 256, 512)
_SHAPES, _SPECS = ((64, 128), (128, 32)), (P(None, "x"), P("x"))
# The colour of each kind of collective, in the order of the drawing.
_COLOURS = {"activations": 1, "weights": 3, "gradients": 5}
# The batches whose products are drawn, and the device whose part of them is drawn.
_COMPARED, _DEVICE = (64, 128), 2
_COLUMNS, _ACROSS, _DOWN, _BLOCK = (4, 124, 244), 0.8, 0.5, 140


def _step(weights, rows):
    def loss(weights):
        first, second = weights
        return jnp.mean((jax.nn.relu(rows @ first) @ second) ** 2)

    gradient = jax.grad(loss)(weights)
    return jax.tree.map(lambda weight, slope: weight - 0.1 * slope, weights, gradient)


def _array(shape: tuple[int, ...], spec: P) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32, sharding=NamedSharding(_MESH, spec))


def _what(kind: str, shapes: tuple[tuple[int, ...], ...], rows: int) -> str:
    """What a collective moves. The compiler may transpose a gradient, but not a weight."""
    if kind == "all-gather" and set(shapes) <= set(_SHAPES):
        return "weights"
    if kind == "all-reduce" and {tuple(sorted(shape)) for shape in shapes} == {tuple(sorted(each)) for each in _SHAPES}:
        return "gradients"
    assert all(shape[0] == rows for shape in shapes), shapes
    return "activations"


@cache
def _census(rows: int) -> Census:
    weights = tuple(_array(shape, spec) for shape, spec in zip(_SHAPES, _SPECS, strict=True))
    text = jax.jit(_step).lower(weights, _array((rows, _SHAPES[0][0]), P("x"))).compile().as_text()
    return take_census(text, _MESH.size)


def _sent(rows: int) -> dict[str, int]:
    sent: dict[str, int] = {}
    for each in _census(rows).collectives:
        what = _what(each.kind, each.shapes, rows)
        sent[what] = sent.get(what, 0) + each.ring_bytes * each.executions
    return {what: sent[what] for what in _COLOURS if what in sent}


class _Part(NamedTuple):
    """A device's part of an array. If `is_term`, the array is the sum of what the devices have."""

    name: str
    whole: tuple[int, ...]
    held: tuple[int, ...]
    is_term: bool = False


def _stored(rows: int) -> list[_Part]:
    """Return a device's part of the batch and of both weights, as the step gets them."""
    shapes, specs = ((rows, _SHAPES[0][0]), *_SHAPES), (P("x"), *_SPECS)
    return [
        _Part(name, shape, NamedSharding(_MESH, spec).shard_shape(shape))
        for name, shape, spec in zip(("rows", "w1", "w2"), shapes, specs, strict=True)
    ]


def _product(rows: int, number: int) -> list[_Part]:
    """Return both operands and the result of a product in the forward pass, as one device computes it."""
    features, columns = _SHAPES[number]
    names = (("rows", "w1", "hidden"), ("hidden", "w2", "outputs"))[number]
    wholes = (rows, features), (features, columns), (rows, columns)
    allowed = [{whole, (whole[0] // _MESH.size, whole[1]), (whole[0], whole[1] // _MESH.size)} for whole in wholes]
    found = {
        (*dot.operand_shapes, dot.result_shape)
        for dot in _census(rows).dots
        if all(shape in each for shape, each in zip((*dot.operand_shapes, dot.result_shape), allowed, strict=True))
        and dot.result_shape == (dot.operand_shapes[0][0], dot.operand_shapes[1][1])
    }
    (held,) = found
    parts = [_Part(*each) for each in zip(names, wholes, held, strict=True)]
    is_term = held[0][1] < features
    return [*parts[:2], parts[2]._replace(is_term=is_term)]


def _drawn(part: _Part, x: float, y: float) -> list[str]:
    """Draw the outline of the whole array with the device's part in it, and the bytes of that part below."""
    starts = [_DEVICE * held if held < whole else 0 for held, whole in zip(part.held, part.whole, strict=True)]
    high, wide = part.whole[0] * _DOWN, part.whole[1] * _ACROSS
    held = x + starts[1] * _ACROSS, y + starts[0] * _DOWN, part.held[1] * _ACROSS, part.held[0] * _DOWN
    size = math.prod(part.held) * jnp.dtype(jnp.float32).itemsize
    return [
        text(x, y - 6, part.name, "soft-text"),
        rect(*held, f"{'term' if part.is_term else 'held'} of-{_DEVICE + 1}"),
        rect(x, y, wide, high, "faint"),
        text(x, y + high + 16, f"{size:,} bytes"),
    ]


def _moment(name: str, parts: dict[int, list[_Part]]) -> str:
    body, said = [], []
    for at, (rows, each) in enumerate(parts.items()):
        y = at * _BLOCK
        body.append(text(4, y + 14, f"{rows} rows"))
        for x, part in zip(_COLUMNS, each, strict=True):
            body += _drawn(part, x, y + 38)
        held = ", ".join(f"{part.held[0]} by {part.held[1]} of {part.name}" for part in each)
        said.append(f"With {rows} rows, a device has {held}.")
    title = f"What device {_DEVICE} has: {name}"
    return svg(f"product-{name}", title, " ".join(said), len(parts) * _BLOCK - 10, body)


def _by_rows() -> str:
    sent = {rows: _sent(rows) for rows in _ROWS}
    most = max(sum(each.values()) for each in sent.values())
    body = []
    for at, (rows, each) in enumerate(sent.items()):
        said = f"{sum(each.values()):,} bytes: {' and '.join(each)}"
        parts = [(amount, _COLOURS[what]) for what, amount in each.items()]
        body += bar(at * BAR_HEIGHT, f"{rows} rows", said, parts, most)
    described = [
        f"With {rows} rows {sum(each.values()):,} bytes of {' and '.join(each)}." for rows, each in sent.items()
    ]
    title = "Bytes that a device sends in a jitted step"
    return svg("by-rows", title, " ".join(described), len(_ROWS) * BAR_HEIGHT, body)


def figures() -> dict[str, str]:
    return {
        "stored.svg": _moment("stored", {rows: _stored(rows) for rows in _COMPARED}),
        "first.svg": _moment("first", {rows: _product(rows, 0) for rows in _COMPARED}),
        "second.svg": _moment("second", {rows: _product(rows, 1) for rows in _COMPARED}),
        "by_rows.svg": _by_rows(),
    }
