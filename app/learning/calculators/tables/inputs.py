"""Inputs that several calculators have, with one range each."""

from app.learning.calculators.calculator import Choice, Number

DEVICES = Number("devices", "Devices", 8, 1, 1_048_576, help="All of them together.")
PARAMETERS = Number(
    "parameters", "Parameters", 6_738_415_616, 1, 10**14, help="Elements, not bytes: 7e9 is fine.", fill="parameters"
)
STRATEGY = Choice(
    "strategy",
    "Strategy",
    "fsdp",
    (
        ("dp", "Data parallel"),
        ("zero1", "ZeRO-1"),
        ("zero2", "ZeRO-2"),
        ("fsdp", "FSDP (ZeRO-3)"),
        ("hsdp", "HSDP"),
        ("fsdp_tp", "FSDP x TP"),
    ),
)
# Without those that need a further axis.
PLAIN_STRATEGY = Choice("strategy", "Strategy", "fsdp", STRATEGY.options[:4])
GROUP = Number("group", "Group size", 4, 1, 1_048_576, "devices", help="HSDP only: devices that share one copy.")
TENSOR = Number("tensor", "Tensor axis", 2, 1, 65_536, "devices", help="FSDP x TP only: devices along the axis tensor.")
_FLOATS = (("float32", "float32, 4 bytes"), ("bfloat16", "bfloat16, 2 bytes"), ("float16", "float16, 2 bytes"))
PARAMETER_DTYPE = Choice("parameter_dtype", "Parameters in", "bfloat16", (*_FLOATS, ("float8", "float8, 1 byte")))
GRADIENT_DTYPE = Choice("gradient_dtype", "Gradients in", "bfloat16", _FLOATS)
# Those of a model that is split over devices by a strategy.
SPLIT_MODEL = (PARAMETERS, STRATEGY, DEVICES, GROUP, TENSOR, PARAMETER_DTYPE, GRADIENT_DTYPE)
MOMENT_DTYPE = Choice("moment_dtype", "Moments in", "float32", _FLOATS)
OPTIMIZER = Choice(
    "optimizer",
    "Optimizer",
    "adam",
    (("sgd", "SGD: no state"), ("momentum", "SGD with momentum: 1 moment"), ("adam", "Adam: 2 moments and a count")),
)
MASTER = Choice("master", "float32 master weights", "yes", (("yes", "Yes: 4 bytes more"), ("no", "No")))
LAYERS = Number("layers", "Layers", 32, 1, 10_000, fill="layers")
HIDDEN = Number("hidden", "Hidden size", 4096, 1, 10**6, fill="hidden")
HEADS = Number("heads", "Attention heads", 32, 1, 10_000, fill="heads")
SEQUENCE = Number("sequence", "Sequence length", 4096, 1, 10**8, "tokens", fill="sequence")
MEMORY_GIB = Number(
    "memory", "Memory of a device", 80, 0.001, 10**6, "GiB", fill="memory", whole=False, help="Data sheets write GB."
)
BANDWIDTH = Number(
    "bandwidth",
    "Bandwidth",
    450,
    0.001,
    10**6,
    "GB/s",
    help="What one device sends: half of a data sheet's total of both directions.",
    fill="bandwidth",
    whole=False,
)
LATENCY = Number(
    "latency", "Latency", 5, 0, 10**6, "µs", help="Of one message. Data sheets have none: measure.", whole=False
)
SIZE = Number("size", "Whole tensor", 2_000_000_000, 1, 10**16, "bytes", help="All shards together.")
