"""Calculators of communication: bytes sent, times, scaling."""

from app.learning.calculators.calculator import Calculator, Choice, Number, Output, Plot, Source
from app.learning.calculators.formulas.step_time import collective_time, scaling
from app.learning.calculators.formulas.traffic import traffic
from app.learning.calculators.tables import inputs
from app.learning.calculators.tables.memory import ZERO

NO_NETWORK = "Not measured here, because there is no network: the grader's devices are threads of one machine."
_THAKUR = Source(
    "Thakur, Rabenseifner and Gropp, Optimization of collective communication",
    "https://doi.org/10.1177/1094342005051521",
)

_TRAFFIC = Calculator(
    name="traffic",
    title="Bytes sent in a step",
    summary="What one device sends, by strategy.",
    inputs=(
        *inputs.SPLIT_MODEL,
        Choice(
            "exchange",
            "Gradients by",
            "reduce_scatter",
            (("reduce_scatter", "reduce_scatter"), ("all_reduce", "all_reduce, as XLA on CPU compiles it")),
            help="Data parallel always has an all_reduce.",
        ),
        Choice(
            "regather",
            "Backward pass gathers again",
            "yes",
            (("yes", "Yes: weights are freed"), ("no", "No: weights are saved")),
            help="FSDP, HSDP and FSDP x TP.",
        ),
        Number("accumulation", "Microbatches per step", 1, 1, 10**6),
        Number("scalars", "Loss and metrics", 4, 0, 10**9, "bytes", help="All-reduced in each step."),
        inputs.LAYERS,
        Number("tokens", "Tokens per microbatch and device", 4096, 1, 10**9, help="FSDP x TP only."),
        inputs.HIDDEN,
    ),
    outputs=(
        Output("sent", "Sent per device", "bytes", "the sum of these", main=True),
        Output("gathered", "By all_gather of parameters", "bytes", "(n - 1) / n x V, for each pass"),
        Output("scattered", "By reduce_scatter of gradients", "bytes", "(n - 1) / n x V"),
        Output("reduced", "By all_reduce of gradients", "bytes", "2 (n - 1) / n x V"),
        Output("activations", "By all_reduce of activations", "bytes", "4 x layers x 2 (t - 1) / t x tokens x hidden"),
        Output("scalar_bytes", "By all_reduce of the loss", "bytes", "2 (n - 1) / n x bytes"),
    ),
    compute=traffic,
    plot=Plot("Sent per device", "devices", 1, 1024, ("sent",), by="strategy"),
    sources=(
        Source("Patarasuk and Yuan, Bandwidth optimal all-reduce", "https://doi.org/10.1016/j.jpdc.2008.09.002"),
        ZERO,
        Source("Shoeybi et al., Megatron-LM, section 3", "https://arxiv.org/abs/1909.08053"),
    ),
    notes=(
        "FSDP sends as much as data parallel if the backward pass uses the weights that were gathered, and 1.5 times "
        "as much if it gathers them again.",
    ),
    presets=("model",),
    folded=(
        ("HSDP and tensor parallelism", ("group", "tensor", "layers", "tokens", "hidden")),
        ("Dtypes", ("parameter_dtype", "gradient_dtype")),
        ("What a step sends", ("exchange", "regather", "accumulation", "scalars")),
    ),
)

_TIME = Calculator(
    name="communication-time",
    title="Communication time and overlap",
    summary="How long a collective takes, and how much of that compute can hide.",
    inputs=(
        Choice(
            "collective",
            "Collective",
            "all_gather",
            (("all_gather", "all_gather"), ("reduce_scatter", "reduce_scatter"), ("all_reduce", "all_reduce")),
        ),
        Choice(
            "algorithm",
            "Algorithm",
            "ring",
            (
                ("ring", "ring"),
                ("tree", "recursive halving and doubling"),
                ("two-level", "rings within, then between nodes"),
            ),
        ),
        inputs.SIZE,
        inputs.DEVICES,
        inputs.BANDWIDTH,
        inputs.LATENCY,
        Number("node", "Devices per node", 8, 1, 65_536, help="Two levels only."),
        Number(
            "node_bandwidth", "Bandwidth within a node", 450, 0.001, 10**6, "GB/s", help="Two levels only.", whole=False
        ),
        Number("node_latency", "Latency within a node", 5, 0, 10**6, "µs", help="Two levels only.", whole=False),
        Number("compute", "Compute at the same time", 10, 0, 10**9, "ms", whole=False),
        Number("overlap", "Communication that can overlap", 100, 0, 100, "%", whole=False),
    ),
    outputs=(
        Output("communication_s", "Communication", "seconds", "latency + transfer", main=True),
        Output("step_s", "Compute and communication", "seconds", "compute + exposed", main=True),
        Output(
            "exposed_s", "Exposed communication", "seconds", "communication - min(compute, overlap x communication)"
        ),
        Output("efficiency", "Time spent on compute", "percent", "compute / step"),
        Output("latency_s", "Latency", "seconds", "(n - 1) x latency in a ring, log2(n) x latency halving"),
        Output("transfer_s", "Transfer", "seconds", "(n - 1) / n x V / W; twice for an all_reduce"),
        Output("sequential_s", "Without overlap", "seconds", "compute + communication"),
        Output("overlapped_s", "With full overlap", "seconds", "max(compute, communication)"),
    ),
    compute=collective_time,
    plot=Plot("Time of the collective", "devices", 1, 1024, ("communication_s",), by="algorithm"),
    sources=(_THAKUR, Source("The Scaling Book, Sharded matrices", "https://jax-ml.github.io/scaling-book/sharding/")),
    presets=("link",),
    folded=(
        ("Two levels", ("node", "node_bandwidth", "node_latency")),
        ("Compute and overlap", ("compute", "overlap")),
    ),
    unmeasured=NO_NETWORK,
)

_SCALING = Calculator(
    name="scaling",
    title="Strong and weak scaling",
    summary="Efficiency on more devices, with an exchange of gradients that does not overlap.",
    inputs=(
        inputs.DEVICES,
        Number("compute", "Compute of a step on one device", 1000, 0.001, 10**9, "ms", whole=False),
        inputs.SIZE,
        inputs.BANDWIDTH,
        inputs.LATENCY,
    ),
    outputs=(
        Output("strong", "Strong scaling efficiency", "percent", "T(1) / (n T(n)), the work divided", main=True),
        Output(
            "weak", "Weak scaling efficiency", "percent", "T(1) / T(n), the work of each device the same", main=True
        ),
        Output("speedup", "Speedup, strong", "times", "T(1) / T(n)"),
        Output("exchange_s", "Exchange of gradients", "seconds", "2 ((n - 1) latency + (n - 1) / n x V / W)"),
        Output("strong_s", "A step, strong", "seconds", "compute / n + exchange"),
        Output("weak_s", "A step, weak", "seconds", "compute + exchange"),
    ),
    compute=scaling,
    plot=Plot("Efficiency by devices", "devices", 1, 1024, ("strong", "weak")),
    sources=(_THAKUR,),
    notes=("The transfer time of a ring is bounded, because (n - 1) / n approaches 1. Its latency keeps growing.",),
    presets=("link",),
    unmeasured=NO_NETWORK,
)

COMMUNICATION = (_TRAFFIC, _TIME, _SCALING)
