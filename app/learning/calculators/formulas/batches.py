"""How a global batch is divided, how much of it fits, and the critical batch size."""

import math

from app.learning.calculators.formulas.impossible_inputs import Impossible, Outputs

_GIB = 2**30


def batch_plan(
    *,
    batch: int,
    data: int,
    fsdp: int,
    accumulation: int,
    sequence: int,
    memory: float,
    fixed: float,
    row_bytes: int,
) -> Outputs:
    """Rows are divided over `data` and `fsdp`: each device of an FSDP group has its own rows.

    batch = data * fsdp * accumulation * microbatch. B_max is the largest microbatch with
    fixed + rows * row_bytes <= memory; `memory` and `fixed` are in GiB for one device.
    """
    ways = data * fsdp
    if batch < ways:
        raise Impossible("batch", f"{ways:,} devices need at least {ways:,} rows: one for each.")
    if batch % (ways * accumulation):
        name = f"{data} x {fsdp} devices x {accumulation} microbatches = {ways * accumulation:,}"
        raise Impossible("batch", f"{name} does not divide {batch:,} rows: {batch % (ways * accumulation):,} are left.")
    room = int(memory * _GIB) - int(fixed * _GIB)
    if room <= 0:
        raise Impossible("fixed", f"This leaves nothing of the {memory:g} GiB for activations. Use more shards.")
    most = room // row_bytes
    if most < 1:
        raise Impossible("row_bytes", f"One row does not fit into the {room:,} bytes that are left. Recompute more.")
    rows = batch // ways
    needed = next(k for k in range(-(-rows // most), rows + 1) if rows % k == 0)
    micro = rows // accumulation
    used = int(fixed * _GIB) + micro * row_bytes
    return {
        "microbatch": micro,
        "rows": rows,
        "tokens": rows * sequence,
        "used": used,
        "fits": int(micro <= most),
        "most": most,
        "most_global": most * ways * accumulation,
        "needed": needed,
    }


def critical_batch(
    *,
    tokens: int,
    peak: float,
    utilization: float,
    bandwidth: float,
    devices: int,
    passes: str,
    element: str,
    noise: float,
    row_seconds: float,
    fixed_seconds: float,
) -> Outputs:
    """Two batch sizes to know: above which compute takes longer than communication, and which trains fastest.

    A step computes 6 N t / C for t tokens on a device, and sends passes * (n - 1) / n * N * b / W, so compute takes
    longer above t = passes * (n - 1) / n * b * C / (6 W): N cancels. Source: The Scaling Book,
    https://jax-ml.github.io/scaling-book/training/, which has C / W for three passes of bfloat16.

    A run has S(B) = S_min (1 + B_noise / B) steps (McCandlish et al., https://arxiv.org/abs/1812.06162, section 2.2).
    If each takes a B + T seconds, without overlap, the run takes S_min (a B + T + B_noise a + B_noise T / B). The
    derivative is zero at B* = sqrt(B_noise T / a).
    """
    width = {"float32": 4, "bfloat16": 2}[element]
    times = int(passes) * (devices - 1) / devices
    # Bytes for each parameter over bytes a second; FLOP for each parameter and token over FLOP a second.
    sending, working = times * width / (bandwidth * 1e9), 6 / (peak * 1e12 * utilization / 100)
    least = sending / working
    best = math.sqrt(noise * fixed_seconds / row_seconds)
    return {
        "least_tokens": least,
        "ratio": tokens / least if least else math.inf,
        "bound": min(1.0, tokens / least) if least else 1.0,
        "best": best,
        "steps_factor": 1 + noise / best if best else math.inf,
        "time_factor": _time(best, noise, row_seconds, fixed_seconds) if best else math.inf,
    }


def _time(batch: float, noise: float, row_seconds: float, fixed_seconds: float) -> float:
    """Seconds of a whole run in units of S_min."""
    return (1 + noise / batch) * (row_seconds * batch + fixed_seconds)
