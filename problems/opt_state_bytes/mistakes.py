"""Wrong ways of counting an optimizer's state. Each docstring tells the student what they misunderstood."""

import math

import optax
from questions import is_split, leaves, network, share, size, truth


def _counted(parameters, state):
    """The answers of someone who believes that the state consists of these arrays."""
    state, devices = list(state), parameters["devices"]
    own = sum(share(each, devices) for each in network(parameters).values())
    split = sum(share(each, devices) for each in state)
    return {
        "state": sum(map(size, state)),
        "zero1": split,
        "whole": sum(size(each) for each in state if not is_split(each, devices)),
        "fsdp": own + split,
    }


def _is(parameters, *names):
    return any(f"optax.{name}(" in parameters["optimizer"] for name in names)


def keeps_one_moment(parameters):
    """You counted one array per parameter. Adam keeps two: the mean of the gradients, `mu`, and the mean of their
    squares, `nu`."""
    if not _is(parameters, "adam", "adamw"):
        return {}
    return {
        "state": _counted(parameters, [each for name, each in leaves(parameters).items() if name[:2] != "mu"])["state"]
    }


def forgets_the_count(parameters):
    """You left out the `count`. The optimizer also stores how many steps it has made, as one int32, and every
    device has it."""
    return _counted(parameters, [each for name, each in leaves(parameters).items() if name != "count"])


def adds_the_parameters(parameters):
    """Your state is too large by the bytes of the parameters. Neither the parameters nor their gradients belong to
    the state of the optimizer."""
    return {"state": truth(parameters)["state"] + sum(map(size, network(parameters).values()))}


def divides_everything(parameters):
    """You divided all bytes of the state by the number of devices. The count cannot be divided, and an array is
    split only if the number of devices divides its first dimension."""
    right = truth(parameters)
    return {"zero1": right["state"] / parameters["devices"], "whole": 0}


def divides_all_but_the_count(parameters):
    """You split every array but the count. Look at the first dimension of each array: if the number of devices
    does not divide it, the whole array is on every device."""
    counts = [each for name, each in leaves(parameters).items() if name == "count"]
    if not counts:
        return {}  # the same as dividing everything
    count = sum(map(size, counts))
    return {"zero1": (truth(parameters)["state"] - count) / parameters["devices"] + count, "whole": count}


def keeps_the_state_whole(parameters):
    """You left the state whole on every device, as data parallelism does. ZeRO-1 keeps the parameters whole, and
    splits the state."""
    return {"zero1": truth(parameters)["state"]}


def stores_moments_in_float32(parameters):
    """You counted 4 bytes per element. optax keeps a moment in the dtype of its parameter, or in `mu_dtype` if it
    is given, and bfloat16 has 2 bytes."""
    wide = [each.update(dtype="float32") for each in leaves(parameters).values()]
    return {name: each for name, each in _counted(parameters, wide).items() if name != "fsdp"}


def counts_elements(parameters):
    """You counted elements. An element has as many bytes as its dtype: 4 for float32 and int32, 2 for bfloat16."""
    return {"state": sum(math.prod(each.shape) for each in leaves(parameters).values())}


def stores_nothing(parameters):
    """You counted no state at all. Only plain SGD forgets everything between two steps."""
    return {"state": 0}


def gives_adafactor_the_state_of_adam(parameters):
    """You gave Adafactor two full arrays per parameter. For a large matrix it keeps only one vector for the rows
    and one for the columns of the second moment, and by default it has no first moment."""
    return (
        {"state": _counted(parameters, leaves(parameters, optax.adam(1e-3)).values())["state"]}
        if _is(parameters, "adafactor")
        else {}
    )


def factors_every_matrix(parameters):
    """You replaced the second moment of every matrix by vectors. optax does so only if both dimensions are at least
    128 (`min_dim_size_to_factor`). A smaller matrix keeps an array of its own shape."""
    if not _is(parameters, "adafactor"):
        return {}
    return {
        "state": _counted(parameters, leaves(parameters, optax.adafactor(1e-3, min_dim_size_to_factor=1)).values())[
            "state"
        ]
    }


def forgets_the_placeholders(parameters):
    """You left out the arrays of one element. In optax, `v_row`, `v_col` and `v` each have an array for every
    parameter, with one element if nothing is kept."""
    return _counted(parameters, [each for each in leaves(parameters).values() if each.shape != (1,)])


def leaves_the_biases_out(parameters):
    """You counted the state of the matrices only. The biases are parameters, too, and have state of their own."""
    return {
        "state": _counted(parameters, [each for name, each in leaves(parameters).items() if "['b" not in name])["state"]
    }


def keeps_the_parameters_whole(parameters):
    """You left the parameters whole, as ZeRO-1 does. FSDP splits them by the same rule as the state."""
    return {"fsdp": truth(parameters)["zero1"] + sum(map(size, network(parameters).values()))}


def leaves_the_parameters_out(parameters):
    """You gave the state alone. This answer also counts the device's share of the parameters."""
    return {"fsdp": truth(parameters)["zero1"]}
