"""You split the rows and gathered the layers: this is FSDP, which moves weights instead of activations."""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def gpipe(mesh, layers, microbatches):
    def pin(array, *spec):
        return jax.lax.with_sharding_constraint(array, NamedSharding(mesh, P(*spec)))

    def layer(h, w):
        return pin(jnp.tanh(h @ w), None, "stage"), None

    return pin(jax.lax.scan(layer, pin(microbatches, None, "stage"), pin(layers))[0])
