"""Two inner jits with out_shardings, as a training script has them: one makes the weights, one takes the step."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P


def fsdp_step_sharded(mesh, seed, x, y, lr):
    devices = mesh.shape["fsdp"]

    def sharding_of(leaf):
        fits = [dim for dim in range(leaf.ndim) if leaf.shape[dim] % devices == 0]
        dim = max(fits, key=lambda dim: leaf.shape[dim], default=None)
        return NamedSharding(mesh, P() if dim is None else P(*[None] * dim, "fsdp"))

    def make():
        model = nnx.Linear(x.shape[-1], y.shape[-1], rngs=nnx.Rngs(seed))
        return {"bias": model.bias[...], "kernel": model.kernel[...]}

    shardings = jax.tree.map(sharding_of, jax.eval_shape(make))
    tx = optax.sgd(lr)

    def step(params, x, y):
        def loss_fn(params):
            # Whatever the batch size, it is the weight that travels and not the activations.
            whole = jax.lax.with_sharding_constraint(params, NamedSharding(mesh, P()))
            return optax.squared_error(x @ whole["kernel"] + whole["bias"], y).mean()

        loss, grads = jax.value_and_grad(loss_fn)(params)
        updates, _ = tx.update(grads, tx.init(params))
        return loss, optax.apply_updates(params, updates)

    params = jax.jit(make, out_shardings=shardings)()
    return jax.jit(step, out_shardings=(NamedSharding(mesh, P()), shardings))(params, x, y)
