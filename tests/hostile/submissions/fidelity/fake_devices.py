"""expect: rejected/error|wrong_structure. Builds a mesh of devices that do not exist."""

import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


class Device:
    id = process_index = 0
    platform = device_kind = "cpu"
    client = None


def add_one(x):
    import jax

    mesh = Mesh(np.asarray([Device()] * 64), "d")
    return jax.device_put(x + 1, NamedSharding(mesh, PartitionSpec("d")))
