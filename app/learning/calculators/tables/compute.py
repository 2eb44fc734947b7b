"""Calculators of compute: FLOPs, pipelines, and the critical batch size."""

from app.learning.calculators.calculator import Calculator, Choice, Number, Output, Plot, Source
from app.learning.calculators.formulas.batches import critical_batch
from app.learning.calculators.formulas.flops import flops
from app.learning.calculators.formulas.pipeline import pipeline
from app.learning.calculators.tables import inputs
from app.learning.calculators.tables.communication import NO_NETWORK

_FLOPS = Calculator(
    name="flops",
    title="FLOPs of a step",
    summary="Matrix products of one device: 6ND, attention and recomputation.",
    inputs=(
        Number(
            "weights",
            "Weights in matrix products",
            6_607_077_376,
            1,
            10**14,
            help="N: without the embedding table, which is only looked up.",
            fill="weights",
        ),
        Number(
            "first_weights",
            "Weights applied to the batch itself",
            0,
            0,
            10**14,
            help="The first layer, whose input needs no gradient.",
        ),
        Number("tokens", "Tokens (or rows) per step", 4_194_304, 1, 10**12, help="D, on all devices."),
        inputs.DEVICES,
        Number("layers", "Layers with attention", 32, 0, 10_000, fill="layers"),
        Number("attention_width", "Width of all heads", 4096, 0, 10**6, fill="hidden"),
        inputs.SEQUENCE,
        Choice("causal", "Attention skips what is masked", "no", (("no", "No"), ("yes", "Yes: half of it"))),
        Choice(
            "recompute",
            "Computed again",
            "nothing",
            (("nothing", "nothing"), ("attention", "attention"), ("everything", "the forward pass")),
        ),
    ),
    outputs=(
        Output("flops", "Per device", "flops", "the sum of these", main=True),
        Output("forward", "Forward pass", "flops", "2 N D / devices"),
        Output("backward", "Backward pass", "flops", "4 N D / devices, less 2 for weights on the batch"),
        Output("attention", "Attention, both passes", "flops", "12 x layers x width x s x D / devices"),
        Output("recomputed", "Computed again", "flops", "2 N D / devices and the attention, with each layer"),
    ),
    compute=flops,
    plot=Plot("FLOPs per device", "devices", 1, 1024, ("flops",), by="recompute", logarithmic=True),
    sources=(
        Source("Kaplan et al., Scaling laws, section 2.1", "https://arxiv.org/abs/2001.08361"),
        Source("Chowdhery et al., PaLM, appendix B", "https://arxiv.org/abs/2204.02311"),
    ),
    presets=("model",),
    folded=(
        ("Attention", ("layers", "attention_width", "sequence", "causal")),
        ("First layer and checkpointing", ("first_weights", "recompute")),
    ),
)

_BUBBLE = Calculator(
    name="pipeline-bubble",
    title="Pipeline bubble",
    summary="Idle time and live activations of GPipe, 1F1B and interleaved schedules.",
    inputs=(
        Choice(
            "schedule", "Schedule", "1f1b", (("gpipe", "GPipe"), ("1f1b", "1F1B"), ("interleaved", "Interleaved 1F1B"))
        ),
        Number("stages", "Stages", 8, 1, 10_000),
        Number("layers", "Layers", 32, 1, 10_000, fill="layers"),
        Number("microbatches", "Microbatches", 32, 1, 10**6),
        Number("chunks", "Chunks per stage", 2, 1, 10_000, help="Interleaved only: parts of the layers on each stage."),
    ),
    outputs=(
        Output("bubble", "Bubble", "percent", "(S - 1) / (v M + S - 1)", main=True),
        Output(
            "live",
            "Live microbatches on stage 1",
            "number",
            "M in GPipe, S in 1F1B, S + (S - 1) / v interleaved",
            main=True,
        ),
        Output("efficiency", "Time spent on compute", "percent", "v M / (v M + S - 1)"),
        Output("overhead", "Idle time over ideal time", "percent", "(S - 1) / (v M)"),
        Output("units", "Length, in steps of one microbatch", "number", "M + (S - 1) / v"),
    ),
    compute=pipeline,
    plot=Plot("Bubble by microbatches", "microbatches", 1, 1024, ("bubble",), by="schedule"),
    sources=(
        Source("Huang et al., GPipe, section 2.3", "https://arxiv.org/abs/1811.06965"),
        Source("Narayanan et al., Megatron-LM on clusters, section 2.2", "https://arxiv.org/abs/2104.04473"),
    ),
    notes=("1F1B has the same bubble as GPipe. It holds fewer activations.",),
    presets=("model",),
)

_CRITICAL = Calculator(
    name="critical-batch",
    title="Critical batch size",
    summary="The batch size at which a step becomes compute-bound, and the one that trains fastest.",
    inputs=(
        Number("tokens", "Tokens per step and device", 4096, 1, 10**12),
        Number(
            "peak",
            "Peak of one device",
            989,
            0.001,
            10**6,
            "TFLOP/s",
            help="Dense, in the dtype of the products.",
            fill="peak",
            whole=False,
        ),
        Number("utilization", "Achieved share of the peak", 100, 0.1, 100, "%", whole=False),
        inputs.BANDWIDTH,
        inputs.DEVICES,
        Choice(
            "passes",
            "A step sends",
            "3",
            (("2", "2 V: data parallel, or weights that are saved"), ("3", "3 V: FSDP that gathers again")),
        ),
        Choice("element", "Dtype sent", "bfloat16", (("bfloat16", "bfloat16"), ("float32", "float32"))),
        Number(
            "noise",
            "Gradient noise scale",
            1_000_000,
            1,
            10**12,
            "tokens",
            help="Measured in training: B_noise.",
            whole=False,
        ),
        Number("row_seconds", "Compute per token", 1e-6, 1e-15, 10**3, "s", help="On all devices: a.", whole=False),
        Number("fixed_seconds", "Communication per step", 0.1, 0, 10**6, "s", help="Not overlapped: T.", whole=False),
    ),
    outputs=(
        Output(
            "least_tokens",
            "Compute-bound from",
            "number",
            "passes x (n - 1) / n x bytes x C / (6 W) tokens on a device",
            main=True,
        ),
        Output("ratio", "Compute over communication", "times", "tokens / that", main=True),
        Output(
            "bound", "Achievable share of the peak", "percent", "min(1, compute / communication), with full overlap"
        ),
        Output("best", "Fastest batch B*", "number", "sqrt(B_noise T / a) tokens", main=True),
        Output("steps_factor", "Steps with it, over the fewest", "times", "1 + B_noise / B*"),
        Output("time_factor", "Run with it, for each of the fewest steps", "seconds", "(1 + B_noise / B*) (a B* + T)"),
    ),
    compute=critical_batch,
    plot=Plot("Compute over communication by tokens per device", "tokens", 64, 65_536, ("ratio",), by="passes"),
    sources=(
        Source("The Scaling Book, Training", "https://jax-ml.github.io/scaling-book/training/"),
        Source("McCandlish et al., An empirical model of large-batch training", "https://arxiv.org/abs/1812.06162"),
    ),
    notes=(
        "A larger batch always takes less time per row. One batch is the fastest because larger batches need more rows "
        "in total.",
    ),
    presets=("chip", "link"),
    folded=(
        ("What a step sends", ("passes", "element")),
        ("Fastest batch", ("noise", "row_seconds", "fixed_seconds")),
    ),
    unmeasured=NO_NETWORK,
)

COMPUTE = (_FLOPS, _BUBBLE, _CRITICAL)
