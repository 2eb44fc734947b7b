"""Every device gathers all rows of x before it multiplies. Pass blocks of rows around a ring, and multiply with each
as it comes."""

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def gathered_matmul(mesh, x, w):
    return jax.lax.with_sharding_constraint(x @ w, NamedSharding(mesh, P(None, "tensor")))
