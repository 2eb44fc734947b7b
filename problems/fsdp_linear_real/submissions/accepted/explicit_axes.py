"""Explicit axes, where shardings are part of the types: the product says where it lies, reshard moves the rest."""

import jax
import jax.numpy as jnp
from flax import nnx
from jax.sharding import PartitionSpec as P
from jax.sharding import reshard


def spec_of(leaf, devices):
    fits = [dim for dim in range(leaf.ndim) if leaf.shape[dim] % devices == 0]
    return P(*[None] * max(fits, key=lambda dim: leaf.shape[dim]), "fsdp") if fits else P()


def fsdp_step_sharded(mesh, seed, x, y, lr):
    model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(seed))
    params = {"kernel": model.kernel[...], "bias": model.bias[...]}
    specs = {name: spec_of(leaf, mesh.shape["fsdp"]) for name, leaf in params.items()}

    def step(params, x, y):
        def loss_fn(params):
            kernel, bias = reshard(params["kernel"], P()), reshard(params["bias"], P())
            return jnp.mean((jnp.dot(x, kernel, out_sharding=P("fsdp")) + bias - y) ** 2)

        loss, grads = jax.value_and_grad(loss_fn)(params)
        return loss, {name: params[name] - lr * grads[name] for name in params}

    return jax.sharding.explicit_axes(step, in_sharding=(specs, P("fsdp"), P("fsdp")))(params, x, y)
