"""Calculators of memory: state, peak, checkpointing, and the batch that fits."""

from app.learning.calculators.calculator import Calculator, Choice, Number, Output, Plot, Source
from app.learning.calculators.formulas.batches import batch_plan
from app.learning.calculators.formulas.checkpointing import checkpointing
from app.learning.calculators.formulas.peak_memory import peak_memory
from app.learning.calculators.formulas.state import state_bytes
from app.learning.calculators.tables import inputs

ZERO = Source("Rajbhandari et al., ZeRO, section 3", "https://arxiv.org/abs/1910.02054")
_RECOMPUTE = Source("Korthikanti et al., Reducing activation recomputation", "https://arxiv.org/abs/2205.05198")

_STATE = Calculator(
    name="state",
    title="State per device",
    summary="Parameters, gradients and optimizer state that one device stores.",
    inputs=(
        *inputs.SPLIT_MODEL,
        inputs.OPTIMIZER,
        inputs.MOMENT_DTYPE,
        inputs.MASTER,
    ),
    outputs=(
        Output("state", "State between steps", "bytes", "parameters + master + moments", main=True),
        Output("total", "State and gradients", "bytes", "state + gradients", main=True),
        Output("parameter_bytes", "Parameters", "bytes", "P / (devices, with FSDP) x bytes of the dtype"),
        Output("master_bytes", "Master weights", "bytes", "4 P / (devices, with ZeRO-1 or higher)"),
        Output("moment_bytes", "Moments and step count", "bytes", "moments x P / (devices, with ZeRO-1 or higher)"),
        Output("gradient_bytes", "Gradients", "bytes", "P / (devices, with ZeRO-2 or higher) x bytes of the dtype"),
    ),
    compute=state_bytes,
    plot=Plot("State and gradients per device", "devices", 1, 1024, ("total",), by="strategy", logarithmic=True),
    sources=(ZERO,),
    notes=(
        "Shards are rounded up to whole elements. If the number of devices does not divide a dimension, pad it, or "
        "split another one.",
        "Activations and gathered parameters need memory as well: see peak memory.",
    ),
    presets=("model",),
    folded=(
        ("HSDP and tensor parallelism", ("group", "tensor")),
        (
            "Dtypes and optimizer",
            ("parameter_dtype", "gradient_dtype", "optimizer", "moment_dtype", "master"),
        ),
    ),
)

_PEAK = Calculator(
    name="peak-memory",
    title="Peak memory",
    summary="State, gradients, gathered parameters and activations, and whether they fit.",
    inputs=(
        inputs.PARAMETERS,
        inputs.LAYERS,
        inputs.HIDDEN,
        inputs.HEADS,
        inputs.SEQUENCE,
        Number("rows", "Rows per device", 1, 1, 10**6, "sequences", help="Of one microbatch."),
        inputs.PLAIN_STRATEGY,
        inputs.DEVICES,
        inputs.PARAMETER_DTYPE,
        inputs.GRADIENT_DTYPE,
        inputs.OPTIMIZER,
        inputs.MASTER,
        Choice(
            "gathered",
            "Layers gathered at a time, with FSDP",
            "one",
            (("one", "one layer"), ("two", "two: the next is prefetched"), ("all", "all: saved for the backward pass")),
        ),
        Choice(
            "recompute",
            "Computed again",
            "everything",
            (("nothing", "nothing"), ("attention", "attention scores"), ("everything", "each layer")),
            help="jax.checkpoint around the attention, or around each layer.",
        ),
        inputs.MEMORY_GIB,
    ),
    outputs=(
        Output("peak", "Peak", "bytes", "state + gradients + gathered + activations", main=True),
        Output("fits", "Fits", "yes", "peak <= memory", main=True),
        Output("free", "Left over", "bytes", "memory - peak"),
        Output("state", "State", "bytes", "see state per device"),
        Output("gradient_bytes", "Gradients", "bytes", "shards, and those that are not scattered yet"),
        Output("gathered_bytes", "Gathered parameters", "bytes", "P / layers x layers that are whole"),
        Output("activations", "Activations", "bytes", "layers x s b h (34 + 5 a s / h), less if recomputed"),
    ),
    compute=peak_memory,
    plot=Plot("Peak memory by devices", "devices", 1, 1024, ("peak",), by="strategy", logarithmic=True),
    sources=(ZERO, _RECOMPUTE),
    notes=(
        "Activations are in 16 bits and of a layer with 4 h wide MLP. The compiler may keep less by fusion, or more by "
        "its schedule.",
        "Fragmentation and the runtime's own buffers are not counted. Leave a few percent free.",
    ),
    presets=("model", "chip"),
    folded=(
        ("Shape of the model", ("layers", "hidden", "heads", "sequence")),
        ("Dtypes and optimizer", ("parameter_dtype", "gradient_dtype", "optimizer", "master")),
        ("Gathering and checkpointing", ("gathered", "recompute")),
    ),
)

_BATCH = Calculator(
    name="batch-plan",
    title="Batch plan",
    summary="Microbatches, accumulation and the largest batch that fits.",
    inputs=(
        Number("batch", "Global batch", 1024, 1, 10**9, "rows"),
        Number("data", "Mesh axis data", 2, 1, 1_048_576, "devices"),
        Number("fsdp", "Mesh axis fsdp", 8, 1, 1_048_576, "devices", help="Its devices have different rows, too."),
        Number("accumulation", "Microbatches per step", 16, 1, 10**6),
        inputs.SEQUENCE,
        inputs.MEMORY_GIB,
        Number("fixed", "State, gradients, gathered", 40, 0, 10**6, "GiB", help="See peak memory.", whole=False),
        Number(
            "row_bytes", "Activations of a row", 3_000_000_000, 1, 10**15, "bytes", help="See peak memory with 1 row."
        ),
    ),
    outputs=(
        Output(
            "microbatch", "Rows per microbatch and device", "count", "batch / (data x fsdp x microbatches)", main=True
        ),
        Output("fits", "Fits", "yes", "fixed + microbatch x row <= memory", main=True),
        Output("most", "B_max: rows of the largest microbatch", "count", "floor((memory - fixed) / row)", main=True),
        Output(
            "needed",
            "Fewest microbatches that fit",
            "count",
            "smallest divisor of the rows that is at least rows / B_max",
        ),
        Output(
            "most_global", "Largest global batch with these microbatches", "count", "B_max x data x fsdp x microbatches"
        ),
        Output("rows", "Rows per device and step", "count", "batch / (data x fsdp)"),
        Output("tokens", "Tokens per device and step", "count", "rows x sequence"),
        Output("used", "Memory used", "bytes", "fixed + microbatch x row"),
    ),
    compute=batch_plan,
    plot=Plot("Memory used by microbatches per step", "accumulation", 1, 1024, ("used",)),
    sources=(
        Source(
            "MaxText, Sharding: the batch is over data and fsdp",
            "https://github.com/AI-Hypercomputer/maxtext/blob/main/docs/guides/optimization/sharding.md",
        ),
    ),
    notes=("The mean of the microbatches' gradients is the batch's gradient if all have the same number of rows.",),
    presets=("model", "chip"),
    unmeasured="The peak behind this is an upper bound: the page on peak memory compares it with measurements.",
)

_CHECKPOINTING = Calculator(
    name="checkpointing",
    title="Checkpointing in segments",
    summary="Activations if only the input of each segment is kept, and the best number of segments.",
    inputs=(
        inputs.LAYERS,
        Number("segments", "Segments", 8, 1, 10_000),
        Number("layer_bytes", "Activations of a layer", 1_000_000_000, 1, 10**15, "bytes"),
        Number("boundary_bytes", "Input of a layer", 33_554_432, 1, 10**15, "bytes"),
    ),
    outputs=(
        Output("kept", "Activations at the peak", "bytes", "C x input + ceil(L / C) x layer", main=True),
        Output("ratio", "Of all activations", "percent", "kept / (L x layer)", main=True),
        Output("best_segments", "Best number of segments", "count", "near sqrt(L x layer / input)", main=True),
        Output("best_kept", "Activations with it", "bytes"),
        Output("everything", "Without checkpointing", "bytes", "L x layer"),
        Output("recomputed", "Layers computed twice", "percent", "all but the last segment"),
    ),
    compute=checkpointing,
    plot=Plot("Activations at the peak by segments", "segments", 1, 1024, ("kept",)),
    sources=(Source("Chen et al., Training deep nets with sublinear memory cost", "https://arxiv.org/abs/1604.06174"),),
    notes=("With inputs as large as layers, C + L / C is least at C = sqrt(L), where it is 2 sqrt(L).",),
    unmeasured="Not measured: no served problem recomputes segments.",
)

MEMORY = (_STATE, _PEAK, _BATCH, _CHECKPOINTING)
