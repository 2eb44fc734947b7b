"""expect: rejected/wrong_structure. Returns a pytree of a class of its own, whose children are the right answer."""

import jax


@jax.tree_util.register_pytree_node_class
class Box:
    def __init__(self, value):
        self.value = value

    def tree_flatten(self):
        return (self.value,), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


def add_one(x):
    return Box(x + 1)
