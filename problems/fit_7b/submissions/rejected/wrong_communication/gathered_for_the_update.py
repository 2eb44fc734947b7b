"""Each layer is gathered once more to be updated whole, and each device cuts its own part out of it. For the update, it needs its own part only."""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

RATE = 0.1
# The split dimension of qkv, out, up and down in one layer.
AXES = (0, 2, 0, 1)


def norm(x, scale):
    mean = jnp.mean(x * x, axis=-1, keepdims=True)
    return x * jax.lax.rsqrt(mean + 1e-6) * scale


def attention(x, qkv, out):
    q, k, v = jnp.einsum("btd,dchk->cbthk", x, qkv)
    scores = jnp.einsum("bqhk,bshk->bhqs", q, k) / q.shape[-1] ** 0.5
    causal = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    shares = jax.nn.softmax(jnp.where(causal, scores, -1e9))
    return jnp.einsum("bhqs,bshk,hkd->bqd", shares, v, out)


def feed_forward(x, up, down):
    gate, value = jnp.einsum("btd,dcf->cbtf", x, up)
    return (jax.nn.silu(gate) * value) @ down


def gathered(shard, axis):
    return jax.lax.all_gather(shard, "fsdp", axis=axis, tiled=True)


def own_part_of_update(shard, grad, axis):
    """This device's part of the weights of a layer that was updated whole."""
    new = gathered(shard, axis) - RATE * gathered(grad, axis)
    return jax.lax.dynamic_slice_in_dim(new, jax.lax.axis_index("fsdp") * shard.shape[axis], shard.shape[axis], axis)


@jax.checkpoint
def layer(x, weights):
    norms, qkv, out, up, down = weights
    x = x + attention(norm(x, norms[0]), gathered(qkv, 0), gathered(out, 2))
    return x + feed_forward(norm(x, norms[1]), gathered(up, 0), gathered(down, 1)), None


def local_loss(params, tokens):
    embed, *layers = params
    table = gathered(embed, 1)
    x, _ = jax.lax.scan(layer, table[tokens[:, :-1]], tuple(layers))
    logits = norm(x, 1.0) @ table.T
    picked = jnp.take_along_axis(logits, tokens[:, 1:, None], axis=-1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - picked)


def step(mesh, embed, norms, qkv, out, up, down, tokens):
    columns = P(None, "fsdp")
    specs = (columns, P(), columns, P(None, None, None, "fsdp"), columns, P(None, None, "fsdp"))

    @jax.shard_map(mesh=mesh, in_specs=(specs, P("fsdp")), out_specs=(P(), specs))
    def loss_and_new(params, tokens):
        loss, grads = jax.value_and_grad(lambda params: jax.lax.pmean(local_loss(params, tokens), "fsdp"))(params)

        def updated(shards):
            return jax.tree.map(own_part_of_update, *shards, AXES)

        embed, norms = (p - RATE * g for p, g in zip(params[:2], grads[:2], strict=True))
        # One layer at a time, so that it fits.
        return loss, (embed, norms, *jax.lax.map(updated, (params[2:], grads[2:])))

    loss, new = loss_and_new((embed, norms, qkv, out, up, down), tokens)
    names = ("embed", "norms", "qkv", "out", "up", "down")
    return dict(zip(names, new, strict=True)) | {"loss": loss}
