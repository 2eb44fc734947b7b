"""The second product is written like the first. Both of its factors are split along the dimension that it sums over, and JAX
cannot know whether the sum should be whole or split.
"""

import jax
from jax.sharding import PartitionSpec as P

def mlp(mesh, w1, w2, bias, x):
    hidden = jax.nn.relu(x @ w1)
    return hidden @ w2 + bias
