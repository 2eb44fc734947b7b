"""Draws what a device sends in a jitted step, by the rows of the batch, from the compiled steps."""

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from grader.program.census import take_census

_MESH = Mesh(jax.devices(), ("x",))
_ROWS = (32, 64, 96, 128, 256, 512)
_SHAPES, _SPECS = ((64, 128), (128, 32)), (P(None, "x"), P("x"))
_LEFT, _WIDE, _HIGH, _LINE = 70, 286, 16, 42
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


def _bar(y: int, rows: int, sent: dict[str, int], most: int) -> list[str]:
    label = f"{sum(sent.values()):,} bytes: {' and '.join(sent)}"
    body = [
        f'<text x="4" y="{y + 15}" class="soft-text">{rows} rows</text>',
        f'<text x="{_LEFT}" y="{y + 15}">{label}</text>',
    ]
    x = _LEFT
    for what, amount in sent.items():
        width = round(_WIDE * amount / most)
        body.append(f'<rect x="{x}" y="{y + 21}" width="{width}" height="{_HIGH}" class="held of-{_COLOURS[what]}"/>')
        x += width
    return body


def figures() -> dict[str, str]:
    sent = {rows: _sent(rows) for rows in _ROWS}
    most = max(sum(each.values()) for each in sent.values())
    body = [line for at, rows in enumerate(_ROWS) for line in _bar(at * _LINE, rows, sent[rows], most)]
    described = [
        f"With {rows} rows {sum(each.values()):,} bytes of {' and '.join(each)}." for rows, each in sent.items()
    ]
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 {len(_ROWS) * _LINE}" role="img" '
        'aria-labelledby="by-rows-title by-rows-desc">',
        '<title id="by-rows-title">Bytes that a device sends in a jitted step</title>',
        f'<desc id="by-rows-desc">{" ".join(described)}</desc>',
        *body,
        "</svg>",
    ]
    return {"by_rows.svg": "\n".join(lines) + "\n"}
