"""Draws what a device sends in a jitted step, by the rows of the batch, from the compiled steps."""

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from grader.program.census import take_census
from tests.lessons.drawing import BAR_HEIGHT, bar, svg

_MESH = Mesh(jax.devices(), ("x",))
_ROWS = (32, 64, 96, 128, 256, 512)
_SHAPES, _SPECS = ((64, 128), (128, 32)), (P(None, "x"), P("x"))
# In the order of the drawing.
_COLOURS = {"activations": 1, "weights": 3, "gradients": 5}


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


def _sent(rows: int) -> dict[str, int]:
    weights = tuple(_array(shape, spec) for shape, spec in zip(_SHAPES, _SPECS, strict=True))
    text = jax.jit(_step).lower(weights, _array((rows, _SHAPES[0][0]), P("x"))).compile().as_text()
    sent: dict[str, int] = {}
    for each in take_census(text, _MESH.size).collectives:
        what = _what(each.kind, each.shapes, rows)
        sent[what] = sent.get(what, 0) + each.ring_bytes * each.executions
    return {what: sent[what] for what in _COLOURS if what in sent}


def figures() -> dict[str, str]:
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
    return {"by_rows.svg": svg("by-rows", title, " ".join(described), len(_ROWS) * BAR_HEIGHT, body)}
