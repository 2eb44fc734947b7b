"""The batch of a decoder that is trained with FSDP, planned from two compiled programs.

Sizes are those that the models were published with. What the state takes on a GPU comes from its shardings on an
abstract mesh, and the temporaries from XLA's compiler: JOBS has what `memory_analysis` said. The editorial has the
program that was compiled for them, for as many host devices as each mesh has.
"""

import math

import jax.numpy as jnp
from jax.sharding import AbstractMesh, NamedSharding
from jax.sharding import PartitionSpec as P

# Layers, width, query heads, heads of keys and values, width of the MLP, and vocabulary.
MODELS = {
    "Llama 2 7B": (32, 4096, 32, 32, 11008, 32000),
    "Llama 2 13B": (40, 5120, 40, 40, 13824, 32000),
    "Llama 3 8B": (32, 4096, 32, 8, 14336, 128256),
    "Llama 3 70B": (80, 8192, 64, 8, 28672, 128256),
}
FEW, MANY = 4, 8
# Model, mesh, tokens in a sequence, and the bytes of temporaries with FEW and with MANY sequences on a device. Of many
# meshes, these are some for which 16 sequences need what a line through the other two says, within 2 %.
JOBS = [
    ("Llama 2 7B", {"fsdp": 8}, 2048, 25_855_396_656, 39_680_052_016),
    ("Llama 2 7B", {"data": 4, "fsdp": 8}, 2048, 25_855_396_656, 39_680_052_016),
    ("Llama 2 13B", {"fsdp": 16}, 2048, 31_145_515_056, 49_768_454_192),
    ("Llama 2 13B", {"data": 4, "fsdp": 16}, 2048, 31_145_515_056, 49_768_454_192),
    ("Llama 3 8B", {"fsdp": 16}, 2048, 27_531_265_840, 41_692_432_176),
    ("Llama 3 8B", {"data": 4, "fsdp": 16}, 2048, 27_531_265_840, 41_692_432_176),
    ("Llama 3 70B", {"fsdp": 64}, 2048, 70_532_957_424, 111_478_277_424),
    ("Llama 3 70B", {"data": 4, "fsdp": 64}, 2048, 70_532_957_424, 111_478_277_424),
]
# GB of an A100, of an A100 or H100, of an H200, and of a B200; and the share that JAX takes, by default three quarters.
MEMORIES = [40, 80, 141, 192]
SHARES = [75, 80, 85, 90, 95]
# Each GPU has so many sequences of the batch that rounding a division up would not plan it.
PER_GPU = range(16, 129)


def draw(rng):
    """The model first, so that each occurs as often, whatever the number of its meshes."""
    model = _choice(rng, list(dict.fromkeys(each[0] for each in JOBS)))
    plans = [each for each in _plans() if each["model"] == model]
    parameters = _choice(rng, plans)
    fits = largest_of(parameters)
    sizes = [each for each in PER_GPU if 3 <= _fewest(each, fits) <= 16 and _fewest(each, fits) > -(-each // fits)]
    return parameters | {"batch": _choice(rng, sizes) * parameters["devices"]}


def truth(parameters):
    largest = largest_of(parameters)
    microbatches = _fewest(parameters["batch"] // parameters["devices"], largest)
    return {
        "state": state_of(parameters),
        "sequence": per_sequence(parameters),
        "fixed": fixed_of(parameters),
        "largest": largest,
        "microbatches": microbatches,
        "size": parameters["batch"] // parameters["devices"] // microbatches,
        # Once in the forward pass, and once when the backward pass computes the layer again.
        "gathers": 2 * microbatches,
    }


def steps(parameters):
    right = truth(parameters)
    per_gpu = parameters["batch"] // parameters["devices"]
    left = usable(parameters) - right["state"] - right["fixed"]
    rounded = -(-per_gpu // right["largest"])
    return {
        "fsdp": parameters["axes"]["fsdp"],
        "usable": usable(parameters),
        "difference": parameters["temporaries_many"] - parameters["temporaries_few"],
        "left": left,
        "quotient": f"{left / right['sequence']:.2f}",
        "per_gpu": per_gpu,
        "rounded": rounded,
        "needed": right["state"] + right["fixed"] + right["size"] * right["sequence"],
        "tried": ", ".join(
            f"{per_gpu} / {count} = {f'{per_gpu / count:.2f}'.rstrip('0').rstrip('.')}"
            for count in range(rounded, right["microbatches"] + 1)
        ),
    }


def shapes_of(model):
    """The weights of a model. Those of its layers are stacked."""
    layers, width, heads, kv_heads, hidden, vocabulary = MODELS[model]
    size = width // heads
    return {
        "embed": (vocabulary, width),
        "norms": (layers, 2, width),
        "qkv": (layers, width, heads + 2 * kv_heads, size),
        "out": (layers, heads, size, width),
        "up": (layers, width, 2, hidden),
        "down": (layers, hidden, width),
        "norm": (width,),
        "head": (width, vocabulary),
    }


def state_of(parameters, arrays=3, axes=("fsdp",), dtype="float32"):
    """The bytes of weights and moments on a device, each split along its dimension of the width."""
    mesh = AbstractMesh(tuple(parameters["axes"].values()), tuple(parameters["axes"]))
    shapes, width = shapes_of(parameters["model"]), MODELS[parameters["model"]][1]
    total = 0
    for shape in shapes.values():
        spec = P(*[axes if size == width and shape.index(width) == dim else None for dim, size in enumerate(shape)])
        shard = NamedSharding(mesh, spec).shard_shape(shape)
        total += arrays * math.prod(shard) * jnp.dtype(dtype).itemsize
    return total


def usable(parameters):
    return parameters["memory"] * 10**9 * parameters["share"] // 100


def per_sequence(parameters):
    return (parameters["temporaries_many"] - parameters["temporaries_few"]) // (MANY - FEW)


def fixed_of(parameters):
    return parameters["temporaries_few"] - FEW * per_sequence(parameters)


def largest_of(parameters):
    return (usable(parameters) - state_of(parameters) - fixed_of(parameters)) // per_sequence(parameters)


def _fewest(per_gpu, largest):
    """The smallest number of equal microbatches that are not too large."""
    return next(count for count in range(1, per_gpu + 1) if per_gpu % count == 0 and per_gpu // count <= largest)


def _plans():
    """The jobs on GPUs of each kind, if a few sequences fit and nothing depends on the last byte."""
    found = []
    for model, axes, tokens, few, many in JOBS:
        for memory in MEMORIES:
            for share in SHARES:
                job = {
                    "model": model,
                    "parameters": sum(map(math.prod, shapes_of(model).values())),
                    "layers": MODELS[model][0],
                    "width": MODELS[model][1],
                    "devices": math.prod(axes.values()),
                    "axes": axes,
                    "mesh": str(axes).replace("'", '"'),
                    "memory": memory,
                    "share": share,
                    "tokens": tokens,
                    "few": FEW,
                    "many": MANY,
                    "temporaries_few": few,
                    "temporaries_many": many,
                }
                if _is_told_apart(job):
                    found.append(job)
    return found


def _is_told_apart(job):
    """Whether a few sequences fit, nothing depends on the last byte, and what is forgotten shows.

    Without the state or without the fixed temporaries, the answer may be the same.
    """
    state, fixed, per = state_of(job), fixed_of(job), per_sequence(job)
    fits = (usable(job) - state - fixed) / per
    one_part = {int((usable(job) - each) / per) for each in (state, fixed)}
    others = [int(fits), int(fits) + 1, int((job["memory"] * 10**9 - state - fixed) / per)]
    return 3 <= fits <= 36 and 0.1 < fits % 1 < 0.9 and len(set(others) | one_part) == 3 + len(one_part)


def _choice(rng, options):
    return options[int(rng.integers(len(options)))]
