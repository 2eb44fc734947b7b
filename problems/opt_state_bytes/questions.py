"""What optax keeps for the parameters of a small network. Its arrays come from `jax.eval_shape` of the optimizer's
`init`, and what one device stores of them from their shardings.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

OPTIMIZERS = {
    "optax.sgd(0.1)": lambda: optax.sgd(0.1),
    "optax.sgd(0.1, momentum=0.9)": lambda: optax.sgd(0.1, momentum=0.9),
    "optax.adam(1e-3)": lambda: optax.adam(1e-3),
    "optax.adamw(1e-3)": lambda: optax.adamw(1e-3),
    "optax.adamw(1e-3, mu_dtype=jnp.bfloat16)": lambda: optax.adamw(1e-3, mu_dtype=jnp.bfloat16),
    "optax.lion(1e-4)": lambda: optax.lion(1e-4),
    "optax.rmsprop(1e-3)": lambda: optax.rmsprop(1e-3),
    "optax.adafactor(1e-3)": lambda: optax.adafactor(1e-3),
}
KEEPS = {
    "optax.sgd(0.1)": "Plain SGD uses a gradient and forgets it. It keeps nothing",
    "optax.sgd(0.1, momentum=0.9)": "SGD with momentum keeps one array per parameter, the `trace`, and no count",
    "optax.adam(1e-3)": "Adam keeps two arrays per parameter, `mu` and `nu`, and the `count` of the steps",
    "optax.adamw(1e-3)": (
        "AdamW keeps what Adam keeps: `mu` and `nu` for each parameter, and the `count` of the steps. Weight decay "
        "needs no memory of its own"
    ),
    "optax.adamw(1e-3, mu_dtype=jnp.bfloat16)": (
        "AdamW keeps two arrays per parameter and the `count` of the steps. `mu_dtype` is the dtype of `mu` only: `nu` "
        "has the dtype of the parameter"
    ),
    "optax.lion(1e-4)": "Lion keeps one array per parameter, `mu`, and the `count` of the steps",
    "optax.rmsprop(1e-3)": "RMSProp keeps one array per parameter, `nu`, and no count",
    "optax.adafactor(1e-3)": (
        "Adafactor keeps a vector for the rows and one for the columns of a matrix if both of its dimensions are at "
        "least 128, and an array of its shape for any other parameter. An array of one element takes the place of "
        "whatever a parameter does not need. There is also the `count` of the steps"
    ),
}


def draw(rng):
    """Of the vocabularies, 8 devices divide 120, 1000 and 5000, 4 also 100 and 500, and none 257, 1001 and 2003."""
    wide, hidden = (64 * int(each) for each in rng.choice(np.arange(1, 10), 2, replace=False))
    # Adafactor twice, because its rule has two sides.
    optimizer = str(rng.choice([*OPTIMIZERS, "optax.adafactor(1e-3)"]))
    # With parameters in bfloat16, mu_dtype would change nothing.
    dtype = "float32" if "mu_dtype" in optimizer else str(rng.choice(["float32", "float32", "bfloat16"]))
    return {
        "optimizer": optimizer,
        "dtype": dtype,
        "devices": int(rng.choice([2, 4, 8])),
        "vocabulary": int(rng.choice([100, 120, 257, 500, 1000, 1001, 2003, 5000])),
        "wide": wide,
        "hidden": hidden,
    }


def truth(parameters):
    devices, state = parameters["devices"], list(leaves(parameters).values())
    own = list(network(parameters).values())
    return {
        "state": sum(map(size, state)),
        "zero1": sum(share(each, devices) for each in state),
        "whole": sum(size(each) for each in state if not is_split(each, devices)),
        "fsdp": sum(share(each, devices) for each in own + state),
    }


def steps(parameters):
    devices, own = parameters["devices"], network(parameters)
    return {
        "keeps": KEEPS[parameters["optimizer"]],
        "parameters": _table(own, devices),
        "parameters_whole": sum(map(size, own.values())),
        "parameters_share": sum(share(each, devices) for each in own.values()),
        "arrays": _table(leaves(parameters), devices),
        "element": jnp.dtype(parameters["dtype"]).itemsize,
    }


def network(parameters):
    """The parameters, as shapes with a dtype."""
    vocabulary, wide, hidden = (parameters[name] for name in ("vocabulary", "wide", "hidden"))
    shapes = {"embed": (vocabulary, wide), "w": (wide, hidden), "b": (hidden,)}
    return {name: jax.ShapeDtypeStruct(shape, jnp.dtype(parameters["dtype"])) for name, shape in shapes.items()}


def leaves(parameters, optimizer=None):
    """The arrays of the state by their path, such as `mu['w']`: of the optimizer in question, or of another one."""
    init = (optimizer or OPTIMIZERS[parameters["optimizer"]]()).init
    found = jax.tree_util.tree_leaves_with_path(jax.eval_shape(init, network(parameters)))
    return {jax.tree_util.keystr(path).rpartition(".")[2]: leaf for path, leaf in found}


def size(leaf):
    return math.prod(leaf.shape) * leaf.dtype.itemsize


def is_split(leaf, devices):
    """By the rule of the statement: the first dimension, where its size is a multiple of the number of devices."""
    return len(leaf.shape) > 0 and leaf.shape[0] % devices == 0


def share(leaf, devices):
    """The bytes of it on one device."""
    mesh = Mesh(np.array(jax.devices()[:devices]), ("data",))
    sharding = NamedSharding(mesh, P("data") if is_split(leaf, devices) else P())
    return math.prod(sharding.shard_shape(leaf.shape)) * leaf.dtype.itemsize


def _table(arrays, devices):
    rows = ["| array | shape | dtype | bytes | bytes on one device |", "|---|---|---|---|---|"]
    for name, leaf in arrays.items():
        own = f"{share(leaf, devices):_}" if is_split(leaf, devices) else f"{size(leaf):_}, whole"
        rows.append(f"| `{name}` | {leaf.shape} | {leaf.dtype} | {size(leaf):_} | {own} |")
    return "\n".join(rows) if arrays else "No array at all."
