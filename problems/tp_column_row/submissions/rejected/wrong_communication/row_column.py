"""You split w1 by rows and w2 by columns, so the sum over devices is over the wide hidden layer."""

import jax
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def tp_mlp(mesh, w1, w2, x):
    def pin(array, *spec):
        return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

    hidden = pin(jax.nn.gelu(pin(pin(x, None, "tensor") @ pin(w1, "tensor"))))
    return pin(hidden @ pin(w2, None, "tensor"))
