"""Run the editorial's recipe and the same training without shards; write down how far apart they are, as JSON.

Usage: recipe_against_plain_step.py RECIPE_FILE OUTPUT_FILE
"""

import json
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

STEPS = 4


class Plain(nnx.Module):
    """The recipe's network on one device."""

    def __init__(self) -> None:
        rngs = nnx.Rngs(0)
        self.layers = nnx.List([nnx.Linear(d_in, d_out, rngs=rngs) for d_in, d_out in pairwise((64, 256, 256, 10))])

    def __call__(self, h: jax.Array) -> jax.Array:
        for layer in self.layers[:-1]:
            h = nnx.relu(layer(h))
        result: jax.Array = self.layers[-1](h)
        return result


@nnx.jit
def plain_step(model: Plain, optimizer: nnx.Optimizer[Plain], x: jax.Array, y: jax.Array) -> jax.Array:
    loss, grads = nnx.value_and_grad(lambda model: jnp.mean((model(x) - y) ** 2))(model)
    optimizer.update(model, grads)
    before: jax.Array = loss
    return before


def batches() -> list[tuple[jax.Array, jax.Array]]:
    """The recipe's own batch of ones first, then drawn ones."""
    rng = np.random.default_rng(0)
    drawn = [(rng.standard_normal((32, 64)), rng.standard_normal((32, 10))) for _ in range(STEPS - 1)]
    first = (jnp.ones((32, 64)), jnp.ones((32, 10)))
    return [first, *((jnp.float32(x), jnp.float32(y)) for x, y in drawn)]


def main() -> None:
    recipe: dict[str, Any] = {}
    exec(Path(sys.argv[1]).read_text(encoding="utf-8"), recipe)
    step, params, opt_state = recipe["step"], recipe["params"], recipe["opt_state"]
    losses = [float(recipe["loss"])]
    text = step.lower(params, opt_state, recipe["x"], recipe["y"]).compile().as_text()
    traced = str(jax.make_jaxpr(step)(params, opt_state, recipe["x"], recipe["y"]))
    for x, y in batches()[1:]:
        rows = (recipe["P"]("fsdp"), recipe["P"]("fsdp"))
        params, opt_state, loss = step(params, opt_state, *recipe["place"]((x, y), rows))
        losses.append(float(loss))

    model = Plain()
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    plain_losses = [float(plain_step(model, optimizer, x, y)) for x, y in batches()]
    pairs = zip(jax.tree.leaves(params), jax.tree.leaves(nnx.state(model, nnx.Param)), strict=True)
    report = {
        "devices": len(jax.devices()),
        "losses": losses,
        "plain_losses": plain_losses,
        "drift": max(float(np.abs(np.asarray(mine) - np.asarray(plain)).max()) for mine, plain in pairs),
        "shards": [shape_and_shard(leaf) for leaf in jax.tree.leaves((params, opt_state))],
        "reduce_scatters": len(re.findall(r" reduce-scatter\(", text)),
        "gathers_compiled": len(re.findall(r" all-gather\(", text)),
        "gathers_traced": len(re.findall(r"= all_gather\[", traced)),
    }
    Path(sys.argv[2]).write_text(json.dumps(report), encoding="utf-8")


def shape_and_shard(leaf: jax.Array) -> list[list[int]]:
    return [list(leaf.shape), list(leaf.addressable_shards[0].data.shape)]


if __name__ == "__main__":
    main()
