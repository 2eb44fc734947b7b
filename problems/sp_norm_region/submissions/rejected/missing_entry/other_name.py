"""Your function has another name; the grader calls norm_region."""

import jax
import jax.numpy as jnp


def rms_norm(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def sequence_parallel(mesh, hidden, down, stream, scale, up):
    stream = stream + hidden @ down
    return {"stream": stream, "hidden": rms_norm(stream, scale) @ up}
