"""Bytes that one device sends in a step, by strategy.

In a ring of n devices, an all_gather or a reduce_scatter of V bytes sends (n - 1) / n * V from each device, and an
all_reduce twice that, because it is one after the other. No algorithm sends less: each device lacks (n - 1) / n of
the result. Source: Patarasuk and Yuan, https://doi.org/10.1016/j.jpdc.2008.09.002; for the strategies, ZeRO,
https://arxiv.org/abs/1910.02054, section 7, and for tensor parallelism, Megatron-LM, https://arxiv.org/abs/1909.08053,
section 3.
"""

from app.learning.calculators.formulas.impossible_inputs import Impossible, Outputs, check_divides, part
from app.learning.calculators.formulas.state import ELEMENT


def gather_sent(total: int, devices: int) -> int:
    """An all_gather whose result has `total` bytes, or a reduce_scatter whose operand does."""
    return total * (devices - 1) // devices


def reduce_sent(total: int, devices: int) -> int:
    """An all_reduce of `total` bytes."""
    return 2 * total * (devices - 1) // devices


def traffic(
    *,
    parameters: int,
    strategy: str,
    devices: int,
    group: int,
    tensor: int,
    parameter_dtype: str,
    gradient_dtype: str,
    exchange: str,
    regather: str,
    accumulation: int,
    scalars: int,
    layers: int,
    tokens: int,
    hidden: int,
) -> Outputs:
    """What each part sends.

    DP and ZeRO-1 add the gradients of all microbatches on each device and exchange them once. ZeRO-2 and FSDP keep one
    shard of them, so they scatter once for each microbatch, and FSDP gathers again for each. FSDP x TP: a layer has two
    all_reduces of the activations in the forward pass and two in the backward pass, over `tensor`; `tokens` are those
    of one microbatch on one device.
    """
    if devices > parameters:
        raise Impossible("devices", f"{devices:,} devices cannot share {parameters:,} parameters.")
    ways, copies, whole = _shards(strategy, parameters, devices, group, tensor)
    weights, gradients = whole * ELEMENT[parameter_dtype], whole * ELEMENT[gradient_dtype]
    gathered = scattered = reduced = activations = 0
    if strategy == "dp":
        reduced = reduce_sent(gradients, devices)
    elif strategy in ("zero1", "zero2"):
        gathered = gather_sent(weights, devices)
        times = accumulation if strategy == "zero2" else 1
        if exchange == "all_reduce":
            reduced = times * reduce_sent(gradients, devices)
        else:
            scattered = times * gather_sent(gradients, devices)
    else:
        passes = 2 if regather == "yes" else 1
        gathered = accumulation * passes * gather_sent(weights, ways)
        if exchange == "all_reduce":
            reduced = accumulation * reduce_sent(gradients, ways)
        else:
            scattered = accumulation * gather_sent(gradients, ways)
        reduced += reduce_sent(part(gradients, ways), copies)
        if strategy == "fsdp_tp":
            check_divides("tensor", tensor, hidden, "the hidden size")
            message = tokens * hidden * ELEMENT[parameter_dtype]
            activations = accumulation * 4 * layers * reduce_sent(message, tensor)
    other = reduce_sent(scalars, devices)
    return {
        "gathered": gathered,
        "scattered": scattered,
        "reduced": reduced,
        "activations": activations,
        "scalar_bytes": other,
        "sent": gathered + scattered + reduced + activations + other,
    }


def _shards(strategy: str, parameters: int, devices: int, group: int, tensor: int) -> tuple[int, int, int]:
    """How many devices share the parameters, how many such groups there are, and the parameters of one group."""
    if strategy == "hsdp":
        check_divides("group", group, devices, "the number of devices")
        return group, devices // group, parameters
    if strategy == "fsdp_tp":
        check_divides("tensor", tensor, devices, "the number of devices")
        return devices // tensor, 1, part(parameters, tensor)
    return devices, 1, parameters
