"""Nothing in your program moves w: each device still holds one shard. Inside a program, neither jax.device_put nor
reshard on Auto axes moves data."""


def gather(mesh, w, dim):
    return w
