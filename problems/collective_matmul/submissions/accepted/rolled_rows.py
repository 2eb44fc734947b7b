"""Arrays with one row of blocks per device and no shard_map: XLA turns the roll of a split dimension into a
collective_permute."""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def gathered_matmul(mesh, x, w):
    devices = mesh.shape["tensor"]
    split, placed = NamedSharding(mesh, P("tensor")), NamedSharding(mesh, P(None, "tensor"))
    pin = jax.lax.with_sharding_constraint
    columns = pin(w.reshape(w.shape[0], devices, -1), NamedSharding(mesh, P(None, "tensor")))
    here = jnp.arange(devices)

    def one_round(blocks, number):
        products = pin(jnp.einsum("nrd,dnc->nrc", blocks, columns), split)
        return pin(jnp.roll(blocks, 1, axis=0), split), products

    blocks = pin(x.reshape(devices, -1, x.shape[1]), split)
    _, products = jax.lax.scan(one_round, blocks, jnp.arange(devices))
    # products[t, i] are the rows of device i - t, in the columns of device i
    products = pin(products, placed)
    ordered = jax.vmap(lambda mine, i: mine[(i - here) % devices], (1, 0), 1)(products, here)
    result = jnp.moveaxis(pin(ordered, placed), 1, 2).reshape(x.shape[0], -1)
    return pin(result, placed)
