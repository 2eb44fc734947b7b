"""Floating-point operations of matrix products, for one device.

A product of (m, k) and (k, n) takes 2mkn. So a weight takes 2 for each token in the forward pass, and 4 in the
backward pass: 2 for the gradient of the weight, 2 for the gradient of its input. Source: Kaplan et al.,
https://arxiv.org/abs/2001.08361, section 2.1. Attention: scores and the weighted sum take 2 * 2 * s * w for each token
and layer, with w the width of all heads. Source: PaLM, https://arxiv.org/abs/2204.02311, appendix B.
"""

from app.learning.calculators.formulas.impossible_inputs import Impossible, Outputs


def flops(
    *,
    weights: int,
    first_weights: int,
    tokens: int,
    devices: int,
    layers: int,
    attention_width: int,
    sequence: int,
    causal: str,
    recompute: str,
) -> Outputs:
    """`first_weights` are those whose input needs no gradient: the batch has none.

    `causal` halves the attention, for a kernel that skips what is masked; one that multiplies by zero saves nothing.
    """
    if first_weights > weights:
        raise Impossible("first_weights", f"There are {weights:,} weights in all.")
    if tokens % devices:
        raise Impossible(
            "devices", f"{devices:,} does not divide the {tokens:,} tokens: {tokens % devices:,} are left."
        )
    if layers and attention_width and sequence > tokens:
        raise Impossible("sequence", f"A sequence cannot be longer than all {tokens:,} tokens of the step.")
    mine = tokens // devices
    forward = 2 * mine * weights
    backward = 4 * mine * weights - 2 * mine * first_weights
    attended = 4 * mine * layers * attention_width * sequence
    attention = attended // 2 if causal == "yes" else attended
    again = {"nothing": 0, "attention": attention, "everything": forward + attention}[recompute]
    return {
        "forward": forward,
        "backward": backward,
        "attention": 3 * attention,
        "recomputed": again,
        "flops": forward + backward + 3 * attention + again,
    }
