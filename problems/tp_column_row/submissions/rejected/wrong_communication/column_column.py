"""You split both weights by columns, so the hidden layer must be gathered between them, and the result afterwards."""

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def tp_mlp(mesh, w1, w2, x):
    def pin(array, *spec):
        return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

    hidden = pin(jax.nn.gelu(x @ w1))
    return pin(hidden @ pin(w2, None, "tensor"))
