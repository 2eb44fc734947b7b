"""expect: rejected/error. Assumes eight devices where there are two."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def add_one(x):
    mesh = Mesh(np.asarray(jax.devices()).reshape(8), "d")
    return jax.device_put(x + 1, NamedSharding(mesh, PartitionSpec("d")))
