import jax
from jax.sharding import PartitionSpec as P


def half(a, b):
    return a @ b


def tp_mlp(mesh, w1, w2, x):
    def per_device(x, up, down):
        activations = jax.nn.gelu(half(x, up))
        partial_result = half(activations, down)
        total = jax.lax.psum(partial_result, axis_name=mesh.axis_names[0])
        return total

    where = {"up": P(None, "tensor"), "down": P("tensor", None)}
    run = jax.shard_map(per_device, mesh=mesh, in_specs=(P(), where["up"], where["down"]), out_specs=P())
    return run(x, w1, w2)
