"""The most memory that a training step needs on one device: state, gradients, gathered parameters, activations.

Activations of a transformer layer in 16 bits: s b h (34 + 5 a s / h) bytes for sequence s, rows b, hidden size h and a
heads. If the attention is computed again (or never stored, as in a fused kernel), 34 s b h. If the whole layer is, its
input alone: 2 s b h, and one layer at a time in full. Source: Korthikanti et al., https://arxiv.org/abs/2205.05198,
equations 1, 2 and 6 and table 2. Layers with gated MLPs or grouped heads differ by some percent.
"""

from app.learning.calculators.formulas.impossible_inputs import Impossible, Outputs, check_divides, part
from app.learning.calculators.formulas.state import ELEMENT, state_bytes

_GIB = 2**30


def layer_activations(rows: int, sequence: int, hidden: int, heads: int, recompute: str) -> tuple[int, int]:
    """Bytes that one layer keeps until its backward pass, and the bytes that this pass needs."""
    base = sequence * rows * hidden
    scores = 5 * heads * sequence * sequence * rows
    if recompute == "everything":
        return 2 * base, 34 * base + scores
    return (34 * base, 34 * base + scores) if recompute == "attention" else (34 * base + scores, 34 * base + scores)


def peak_memory(
    *,
    parameters: int,
    layers: int,
    hidden: int,
    heads: int,
    sequence: int,
    rows: int,
    strategy: str,
    devices: int,
    parameter_dtype: str,
    gradient_dtype: str,
    optimizer: str,
    master: str,
    gathered: str,
    recompute: str,
    memory: float,
) -> Outputs:
    """`gathered` layers of an FSDP step are whole at a time, and so are their gradients before they are scattered."""
    check_divides("heads", heads, hidden, "the hidden size")
    if layers > parameters:
        raise Impossible("layers", f"{layers} layers cannot share {parameters} parameters.")
    dtypes = {"parameter_dtype": parameter_dtype, "gradient_dtype": gradient_dtype, "moment_dtype": "float32"}
    stored_state = state_bytes(
        parameters=parameters,
        strategy=strategy,
        devices=devices,
        group=1,
        tensor=1,
        optimizer=optimizer,
        master=master,
        **dtypes,
    )
    whole = {"one": 1, "two": 2, "all": layers}[gathered]
    gathered_weights = part(parameters * min(whole, layers), layers) if strategy == "fsdp" and devices > 1 else 0
    weights = gathered_weights * ELEMENT[parameter_dtype]
    unscattered = 0
    if strategy in ("zero2", "fsdp") and devices > 1:
        unscattered = part(parameters * (whole if strategy == "fsdp" else 1), layers) * ELEMENT[gradient_dtype]
    per_layer, working = layer_activations(rows, sequence, hidden, heads, recompute)
    activations = layers * per_layer + (working - per_layer)
    peak = int(stored_state["total"]) + weights + unscattered + activations
    return {
        "state": stored_state["state"],
        "gradient_bytes": int(stored_state["gradient_bytes"]) + unscattered,
        "gathered_bytes": weights,
        "activations": activations,
        "peak": peak,
        "free": int(memory * _GIB) - peak,
        "fits": int(peak <= memory * _GIB),
    }
