import jax
from jax.sharding import PartitionSpec as Spec


def tp_mlp(mesh, w1, w2, x):
    layout = {"first": Spec(None, "tensor"), "second": Spec("tensor", None)}

    def shard(inputs, first, second):
        # both products are local
        h = jax.nn.gelu(product(inputs, first))
        part = product(h, second)
        return jax.lax.psum(part, axis_name=mesh.axis_names[0])

    mapped = jax.shard_map(shard, mesh=mesh, in_specs=(Spec(), layout["first"], layout["second"]), out_specs=Spec())
    return mapped(x, w1, w2)


def product(left, right):
    return left @ right
