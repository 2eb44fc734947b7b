"""The numbers of the lesson: what bfloat16 can hold, and what sums in it lose."""

import jax
import jax.numpy as jnp
import numpy as np

_ONES = 1000


def digits():
    """The binary digits of a bfloat16, including the one that is not stored."""
    return jnp.finfo(jnp.bfloat16).nmant + 1, "binary digits"


def next_number():
    """The next bfloat16 above one."""
    return 1 + float(jnp.finfo(jnp.bfloat16).eps), ""


def whole():
    """The integer above which bfloat16 has no odd integers."""
    value = 1
    while float(jnp.bfloat16(value + 1)) == value + 1:
        value += 1
    return value, ""


def block_error():
    """The largest error of sixty-four products of integers, added up in bfloat16."""
    left, right = np.random.default_rng(0).integers(-3, 4, (2, 64, 4096))
    total = jnp.zeros((64, 64), jnp.bfloat16)
    for first in range(0, 4096, 64):
        part = slice(first, first + 64)
        a, b = (jnp.asarray(each[:, part], jnp.bfloat16) for each in (left, right))
        total += jnp.matmul(a, b.T, preferred_element_type=jnp.bfloat16)
    return float(np.abs(np.asarray(total, np.float64) - left @ right.T).max()), ""


def fsdp_mixed():
    """Bytes that FSDP sends for each parameter: two gathers in bfloat16, a reduction in float32."""
    return 2 * jnp.bfloat16.dtype.itemsize + jnp.float32.dtype.itemsize, "bytes"


def fsdp_whole():
    """Bytes that FSDP sends for each parameter, all in float32."""
    return 3 * jnp.float32.dtype.itemsize, "bytes"


def stalled():
    """The sum of a thousand ones that are added one by one in bfloat16."""
    total, _ = jax.lax.scan(lambda total, one: (total + one, None), jnp.bfloat16(0), jnp.ones(_ONES, jnp.bfloat16))
    return int(total), ""


def ones():
    """How many ones are added."""
    return _ONES, ""


def half_way():
    """Half of the value at which the sum stops growing."""
    return stalled()[0] // 2, ""
