"""Draws how long an H100 computes and how long its memory moves data, for a product with more and more rows."""

import jax
import jax.numpy as jnp

from tests.lessons.drawing import BAR_HEIGHT, bar, svg

_PEAK, _MEMORY = 989e12, 3.35e12
_INNER, _COLUMNS = 4096, 14336
_ROWS = {"one": 1, "sixty_four": 64, "ridge": 512, "many": 4096}


def _microseconds(rows: int) -> tuple[float, float]:
    left, kernel = (jax.ShapeDtypeStruct(shape, jnp.bfloat16) for shape in ((rows, _INNER), (_INNER, _COLUMNS)))
    flops = jax.jit(jnp.matmul).lower(left, kernel).cost_analysis()["flops"]
    moved = 2 * (rows * _INNER + _INNER * _COLUMNS + rows * _COLUMNS)
    return 1e6 * flops / _PEAK, 1e6 * moved / _MEMORY


def figures() -> dict[str, str]:
    drawn = {}
    for number, (name, rows) in enumerate(_ROWS.items(), 1):
        times = dict(zip(("computes", "moves"), _microseconds(rows), strict=True))
        body = []
        for at, (label, time) in enumerate(times.items()):
            share = round(1000 * time / max(times.values()))
            body += bar(at * BAR_HEIGHT, label, f"{time:.1f} µs", [(share, at + 1)], 1000)
        what = f"It computes for {times['computes']:.1f} µs, and its memory moves data for {times['moves']:.1f} µs."
        title = f"A product with {rows} {'row' if rows == 1 else 'rows'}"
        drawn[f"{name}.svg"] = svg(f"roofline-{number}", title, what, 2 * BAR_HEIGHT, body)
    return drawn
