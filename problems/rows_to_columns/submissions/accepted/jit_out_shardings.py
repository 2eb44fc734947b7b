"""A jitted identity with out_shardings."""

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def rows_to_columns(mesh, x):
    return jax.jit(lambda array: array, out_shardings=NamedSharding(mesh, P(None, "data")))(x)
