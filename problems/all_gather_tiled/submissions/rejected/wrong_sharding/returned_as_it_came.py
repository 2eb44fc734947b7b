"""Nothing in your program moves w, as jax.device_put does not inside of one: each device still holds one shard."""


def gather(mesh, w, dim):
    return w
