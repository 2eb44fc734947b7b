import jax.numpy as jnp
import optax
from flax import nnx


def squared(model, inputs):
    features, wanted = inputs
    gap = model(features) - wanted
    return (gap * gap).sum() / gap.size


def fsdp_step(seed, x, y, num_shards, lr):
    # num_shards does not change any number, so it is not used.
    net = nnx.Linear(x.shape[1], y.shape[1], rngs=nnx.Rngs(int(seed)))
    trainer = nnx.Optimizer(net, optax.sgd(learning_rate=float(lr)), wrt=nnx.Param)
    history = []
    for turn in range(2):
        value, slope = nnx.value_and_grad(squared)(net, (x, y))
        history.append(value)
        if turn == 0:
            trainer.update(net, slope)
    return jnp.stack(history)
