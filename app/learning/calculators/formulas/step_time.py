"""Time of a collective, and of a step that overlaps it with compute: the alpha-beta model.

A message of b bytes takes alpha + b / W. Sources: Thakur, Rabenseifner and Gropp,
https://doi.org/10.1177/1094342005051521, sections 4 and 5, for rings and for recursive halving and doubling.
`bytes` is always the whole tensor: the result of an all_gather, the operand of a reduce_scatter.
"""

import math

from app.learning.calculators.formulas.impossible_inputs import Impossible, Outputs, check_divides


def one_way(algorithm: str, total: float, devices: int, bandwidth: float, latency: float) -> tuple[float, float]:
    """Seconds of latency and of transfer, of one all_gather or one reduce_scatter."""
    rounds = math.log2(devices) if algorithm == "tree" else devices - 1
    return rounds * latency, total * (devices - 1) / devices / bandwidth


def collective_time(
    *,
    collective: str,
    algorithm: str,
    size: int,
    devices: int,
    bandwidth: float,
    latency: float,
    node: int,
    node_bandwidth: float,
    node_latency: float,
    compute: float,
    overlap: float,
) -> Outputs:
    """Bandwidth in GB/s that one device sends, latency in microseconds, compute in milliseconds, overlap in percent.

    `tree` halves and doubles: it needs a power of two, and moves as many bytes as a ring in log2(n) rounds. `two-level`
    works within nodes of `node` devices first, so that between nodes each device moves 1 / node of the bytes.
    """
    if algorithm == "tree" and devices & (devices - 1):
        raise Impossible("devices", "Recursive halving needs a power of two, such as 8 or 64. A ring takes any number.")
    fast = node_bandwidth * 1e9, node_latency * 1e-6
    slow = bandwidth * 1e9, latency * 1e-6
    if algorithm == "two-level":
        check_divides("node", node, devices, "the number of devices")
        inside = one_way("ring", size, node, *fast)
        across = one_way("ring", size / node, devices // node, *slow)
        waiting, moving = inside[0] + across[0], inside[1] + across[1]
    else:
        waiting, moving = one_way(algorithm, size, devices, *slow)
    times = 2 if collective == "all_reduce" else 1
    waiting, moving = times * waiting, times * moving
    worked, both = compute * 1e-3, waiting + moving
    hidden = min(worked, both * overlap / 100)
    return {
        "latency_s": waiting,
        "transfer_s": moving,
        "communication_s": both,
        "sequential_s": worked + both,
        "overlapped_s": max(worked, both),
        "step_s": worked + both - hidden,
        "exposed_s": both - hidden,
        "efficiency": worked / (worked + both - hidden) if worked + both else 1.0,
    }


def scaling(
    *,
    devices: int,
    compute: float,
    size: int,
    bandwidth: float,
    latency: float,
) -> Outputs:
    """Efficiency on `devices` devices, with a ring all_reduce of `size` bytes that does not overlap.

    `compute` is the time in ms of one step on one device. Strong: the same work on more devices, T(1) / (n T(n)). Weak:
    the same work on each device, T(1) / T(n). The transfer approaches 2 * size / W and does not grow further.
    """
    waiting, moving = one_way("ring", size, devices, bandwidth * 1e9, latency * 1e-6)
    exchange, whole = 2 * (waiting + moving), compute * 1e-3
    strong = whole / devices + exchange
    weak = whole + exchange
    return {
        "exchange_s": exchange,
        "strong_s": strong,
        "speedup": whole / strong,
        "strong": whole / strong / devices,
        "weak_s": weak,
        "weak": whole / weak,
    }
