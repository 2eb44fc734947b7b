"""Draws what the block of the lesson keeps for its backward pass, array by array, for batches of more and more rows."""

import jax
import jax.numpy as jnp

from tests.lessons.drawing import BAR_HEIGHT, bar, svg

_ROWS = (25, 50, 100)


def _kept(rows: int, *, checkpointed: bool) -> list[tuple[int, bool]]:
    """Bytes of each array, and whether it is an intermediate result; the largest first."""

    def block(w: jax.Array, x: jax.Array) -> jax.Array:
        return x + jnp.tanh(jnp.sin(x @ w)) @ w.T

    w, x = jnp.ones((4, 16)), jnp.ones((rows, 4))
    _, pull = jax.vjp(jax.checkpoint(block) if checkpointed else block, w, x)
    return sorted(((each.nbytes, each.shape == (rows, 16)) for each in jax.tree.leaves(pull)), reverse=True)


def figures() -> dict[str, str]:
    kept = {
        rows: {"everything": _kept(rows, checkpointed=False), "checkpoint": _kept(rows, checkpointed=True)}
        for rows in _ROWS
    }
    most = max(sum(size for size, _ in arrays) for both in kept.values() for arrays in both.values())
    drawn = {}
    for rows, both in kept.items():
        body, said = [], []
        for at, (name, arrays) in enumerate(both.items()):
            total = f"{len(arrays)} arrays, {sum(size for size, _ in arrays):,} bytes"
            parts = [(size, 2 if between else 1) for size, between in arrays]
            body += bar(at * BAR_HEIGHT, name, total, parts, most)
            said.append(f"{name} {total}, {sum(between for _, between in arrays)} of them intermediate results")
        title, what = f"What a block keeps of {rows} rows", f"It keeps: {'; '.join(said)}."
        drawn[f"kept_{rows}.svg"] = svg(f"kept-{rows}", title, what, len(both) * BAR_HEIGHT, body)
    return drawn
