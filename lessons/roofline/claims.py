"""The numbers of the lesson: bounds of three published models on a published chip, and FLOPs that XLA counts."""

import jax
import jax.numpy as jnp

from app.learning.calculators.presets import PRESETS
from tests.lessons import offloaded_layers

_MEMORY = 3.35e12
_PEAK = next(each for each in PRESETS["chip"] if each.id == "h100").fills["peak"] * 1e12
_LINKS = {each.id: each.fills["bandwidth"] * 1e9 for each in PRESETS["link"]}


def _parameters(layers: int, mlp: int, vocabulary: int, experts: int = 1, used: int = 1) -> tuple[int, int]:
    """All parameters of a model of width 4096 with 32 heads and 8 for keys, and those that a token uses."""
    width, head, heads, kv_heads = 4096, 128, 32, 8
    router = width * experts if experts > 1 else 0
    rest = width * head * 2 * (heads + kv_heads) + router + 2 * width
    ends = 2 * vocabulary * width + width
    whole, active = (layers * (rest + count * 3 * width * mlp) + ends for count in (experts, used))
    return whole, active


_MIXTRAL = _parameters(32, 14336, 32000, experts=8, used=2)
_LLAMA, _ = _parameters(32, 14336, 128256)


def _intensity(rows: int) -> float:
    """FLOPs for each byte of a product with a kernel of 4096 by 14336 in bfloat16."""
    left, kernel = (jax.ShapeDtypeStruct(shape, jnp.bfloat16) for shape in ((rows, 4096), (4096, 14336)))
    flops = jax.jit(jnp.matmul).lower(left, kernel).cost_analysis()["flops"]
    return flops / (2 * (rows * 4096 + 4096 * 14336 + rows * 14336))


def peak():
    """What an H100 computes in bfloat16 without sparsity, from its data sheet."""
    return int(_PEAK / 1e12), "TFLOP/s"


def memory():
    """What the memory of an H100 moves, from its data sheet."""
    return round(_MEMORY / 1e12, 2), "TB/s"


def ridge():
    """FLOPs for each byte at which arithmetic takes as long as memory."""
    return round(_PEAK / _MEMORY), "FLOPs"


def one_row():
    """FLOPs for each byte of a product with one row."""
    return round(_intensity(1)), "FLOP"


def tokens_by_nvlink():
    """The tokens per GPU above which arithmetic takes longer than FSDP's collectives over NVLink."""
    return round(_PEAK / _LINKS["nvlink4"]), "tokens"


def tokens_by_infiniband():
    """Tokens for each GPU from which arithmetic takes longer than FSDP's collectives over InfiniBand."""
    return round(_PEAK / _LINKS["infiniband"]), "tokens"


def more_for_experts():
    """How many times as many tokens Mixtral needs, because it sends all experts and computes two."""
    whole, used = _MIXTRAL
    return round(whole / used, 1), "times"


def bytes_of_state():
    """Bytes for each parameter: a master copy and two moments in float32, and a bfloat16 copy."""
    return 4 + 4 + 4 + 2, "bytes"


def offload_width():
    """The features of each layer of the program that offloads, as the Explorer opens it."""
    return offloaded_layers.WIDTH, "features"


def offload_kept():
    """What that program allocates on each of eight H100s if they keep the inputs of all layers."""
    return offloaded_layers.KEPT.on_gpu, "bytes"


def offload_moved():
    """What it allocates on each if the inputs of all layers move to the host."""
    return offloaded_layers.MOVED.on_gpu, "bytes"


def offload_host():
    """What it then keeps in the host's memory for each GPU."""
    return offloaded_layers.MOVED.on_host, "bytes"


def decode():
    """The most tokens per second for one sequence of Llama 3.1 8B, from the bytes of its weights."""
    return round(_MEMORY / (2 * _LLAMA)), "tokens"


def tokens_twice():
    """The tokens per GPU above which arithmetic takes longer than collectives at half of NVLink's speed."""
    return round(2 * _PEAK / _LINKS["nvlink4"]), "tokens"


def tokens_half():
    """Tokens for each GPU if halving the speed halved the tokens."""
    return round(_PEAK / _LINKS["nvlink4"] / 2), "tokens"
