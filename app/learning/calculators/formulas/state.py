"""Bytes of model state on one device, by strategy.

Source: Rajbhandari et al., ZeRO, https://arxiv.org/abs/1910.02054, section 3 and figure 1. With N devices, ZeRO-1
divides the optimizer's state, ZeRO-2 the gradients as well, and ZeRO-3 (FSDP) the parameters as well.
"""

from app.learning.calculators.formulas.impossible_inputs import Impossible, Outputs, check_divides, part

# Bytes of one element.
ELEMENT = {"float32": 4, "bfloat16": 2, "float16": 2, "float8": 1}
# Elements that the optimizer keeps for each parameter, and bytes of its step count.
MOMENTS = {"sgd": 0, "momentum": 1, "adam": 2}
_COUNT = {"sgd": 0, "momentum": 0, "adam": 4}


def shards(strategy: str, devices: int, group: int, tensor: int) -> tuple[int, int, int]:
    """Into how many parts parameters, gradients and optimizer state are divided.

    HSDP divides within a group and repeats the group. FSDP x TP divides over both axes, so over all devices; with
    devices / tensor of them along fsdp.
    """
    if strategy == "hsdp":
        check_divides("group", group, devices, "the number of devices")
        return group, group, group
    if strategy == "fsdp_tp":
        check_divides("tensor", tensor, devices, "the number of devices")
    divided = {"dp": 0, "zero1": 1, "zero2": 2}.get(strategy, 3)
    return (devices if divided >= 3 else 1, devices if divided >= 2 else 1, devices if divided >= 1 else 1)


def state_bytes(
    *,
    parameters: int,
    strategy: str,
    devices: int,
    group: int,
    tensor: int,
    parameter_dtype: str,
    gradient_dtype: str,
    optimizer: str,
    moment_dtype: str,
    master: str,
) -> Outputs:
    """Each part is rounded up to whole elements.

    `state` is what stays between two steps: the arguments of a step. Gradients come on top while it runs.
    """
    for_parameters, for_gradients, for_optimizer = shards(strategy, devices, group, tensor)
    if for_optimizer > parameters:
        raise Impossible("devices", f"{for_optimizer:,} devices cannot share {parameters:,} parameters.")
    weights = part(parameters, for_parameters) * ELEMENT[parameter_dtype]
    gradients = part(parameters, for_gradients) * ELEMENT[gradient_dtype]
    copy = part(parameters, for_optimizer) * 4 if master == "yes" else 0
    moments = part(parameters, for_optimizer) * MOMENTS[optimizer] * ELEMENT[moment_dtype] + _COUNT[optimizer]
    state = weights + copy + moments
    return {
        "parameter_bytes": weights,
        "master_bytes": copy,
        "moment_bytes": moments,
        "state": state,
        "gradient_bytes": gradients,
        "total": state + gradients,
    }
