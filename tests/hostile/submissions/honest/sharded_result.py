"""expect: accepted. Returns an array that is split over two devices."""

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def add_one(x):
    mesh = Mesh(np.asarray(jax.devices()), "d")
    return jax.jit(lambda y: y + 1, out_shardings=NamedSharding(mesh, PartitionSpec("d")))(x)
