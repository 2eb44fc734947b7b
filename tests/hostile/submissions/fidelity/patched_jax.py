"""expect: rejected/wrong_value. Patches what a judge beside it would call: block_until_ready, log_softmax, tree_map."""

import jax

jax.block_until_ready = lambda value: value
jax.nn.log_softmax = lambda value, *_: value
jax.tree.map = lambda function, tree, *_: tree
jax.devices = lambda *_: [None] * 8


def add_one(x):
    return x
