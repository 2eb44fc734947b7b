"""XLA's options that a person may set for the program of a GPU, and how their values are written.

Values are texts, as in `XLA_FLAGS`. An option is taken only if it is here, because most of the others change what runs
on a GPU and not what is compiled, or make a compilation write files or take forever.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

MAX_VALUE = 200
_MOST_FAULTS = 5
# An option of a compiler, without the dashes of `XLA_FLAGS`.
_NAME = re.compile(r"xla_\w{1,100}", re.ASCII)
_BOOLS = {"true": "true", "1": "true", "false": "false", "0": "false"}
_ASYNC = (
    "ALLREDUCE",
    "ALLGATHER",
    "REDUCESCATTER",
    "COLLECTIVEBROADCAST",
    "ALLTOALL",
    "COLLECTIVEPERMUTE",
    "RAGGEDALLTOALL",
    "ALLCOLLECTIVES",
)


@dataclass(frozen=True, slots=True)
class GivenOption:
    """An option with its value, and the line of the source that gives it; 0 if a person chose it without one."""

    name: str
    value: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class XLAOption:
    """One option. It is a whole number if `most` is set, a list if there are `choices`, and otherwise true or false.

    Attributes:
      does: what it does, in one line.
      default: XLA's value if nobody sets it.
      most: the largest number that is taken.
      choices: the words of which its value is a list with commas.
    """

    name: str
    does: str
    default: str
    least: int = 0
    most: int = 0
    choices: tuple[str, ...] = ()

    @property
    def takes(self) -> str:
        """What its value is, for messages and for the page."""
        if self.choices:
            return f"a list with commas of {', '.join(self.choices)}" if self.choices[1:] else self.choices[0]
        return f"a whole number from {self.least:,} to {self.most:,}" if self.most else "true or false"

    def read(self, text: str) -> str:
        """The value in the one form that is stored and shown. Raises `ValueError` with what it takes instead."""
        written = text.strip()
        if self.choices:
            words = [each for each in written.split(",") if each]
            if len(written) <= MAX_VALUE and set(words) <= set(self.choices):
                return ",".join(dict.fromkeys(words))
        elif self.most:
            if re.fullmatch(r"\d{1,19}", written, re.ASCII) and self.least <= int(written) <= self.most:
                return str(int(written))
        elif written.lower() in _BOOLS:
            return _BOOLS[written.lower()]
        raise ValueError(f"{self.name} is set to {written[:40]!r}, but it takes {self.takes}.")

    def for_compiler(self, value: str) -> str | bool:
        return value if self.most or self.choices else value == "true"


_COMBINED = "Combine {} up to this many bytes in one. With 0, each stays alone; with the default, XLA chooses."
_DEFAULT_BYTES = str(30 * (1 << 20) + 7)
_MOST_BYTES = 1 << 40


def _bytes(kind: str) -> XLAOption:
    does = _COMBINED.format(kind.replace("_", "-") + "s")
    return XLAOption(f"xla_gpu_{kind}_combine_threshold_bytes", does, _DEFAULT_BYTES, most=_MOST_BYTES)


def _bool(name: str, does: str, *, default: bool = False) -> XLAOption:
    return XLAOption(name, does, "true" if default else "false")


OPTIONS: Mapping[str, XLAOption] = MappingProxyType(
    {
        each.name: each
        for each in (
            _bytes("all_gather"),
            _bytes("all_reduce"),
            _bytes("reduce_scatter"),
            _bool("xla_gpu_enable_all_gather_combine_by_dim", "Combine only all-gathers along the same dimension."),
            _bool(
                "xla_gpu_enable_reduce_scatter_combine_by_dim", "Combine only reduce-scatters along the same dimension."
            ),
            _bool(
                "xla_gpu_enable_latency_hiding_scheduler",
                "Order the program so that computation runs while a collective is in flight.",
            ),
            _bool("xla_gpu_enable_pipelined_all_gather", "Gather what the next round of a loop needs one round ahead."),
            _bool("xla_gpu_enable_pipelined_all_reduce", "Reduce what a round of a loop computed during the next one."),
            _bool(
                "xla_gpu_enable_pipelined_reduce_scatter",
                "Scatter what a round of a loop computed during the next one.",
                default=True,
            ),
            _bool("xla_gpu_enable_pipelined_p2p", "Send and receive for the next round of a loop one round ahead."),
            _bool(
                "xla_gpu_enable_while_loop_double_buffering",
                "Unroll loops by two rounds, so that they need no copies between rounds.",
            ),
            XLAOption(
                "xla_gpu_disable_async_collectives",
                "Make these collectives synchronous: the chip computes nothing meanwhile.",
                "",
                choices=_ASYNC,
            ),
            XLAOption(
                "xla_gpu_experimental_parallel_collective_overlap_limit",
                "Let this many collectives be in flight at the same time.",
                "1",
                least=1,
                most=64,
            ),
            XLAOption(
                "xla_gpu_collective_permute_decomposer_threshold",
                "Split a collective-permute of at least this many bytes into a send and a receive.",
                str((1 << 63) - 1),
                most=(1 << 63) - 1,
            ),
            _bool(
                "xla_gpu_enable_highest_priority_async_stream",
                "Give the stream of asynchronous collectives the highest priority.",
                default=True,
            ),
            _bool(
                "xla_allow_excess_precision",
                "Leave out a rounding to fewer bits that is followed by a conversion back.",
                default=True,
            ),
            XLAOption(
                "xla_disable_hlo_passes",
                "Leave out the pass that widens all-reduces of 16-bit integers to 32 bits.",
                "",
                choices=("all-reduce-promotion",),
            ),
        )
    }
)

# Common options that cannot change what is shown, with the reason.
WITHOUT_EFFECT: Mapping[str, str] = MappingProxyType(
    {
        "xla_force_host_platform_device_count": "There are as many devices as the mesh has.",
        "xla_gpu_enable_triton_gemm": "Without a GPU, products are calls of cuBLAS.",
        "xla_gpu_enable_pipelined_collectives": (
            "XLA has an option for each kind instead, such as xla_gpu_enable_pipelined_all_gather."
        ),
        "xla_gpu_autotune_level": "Without a GPU, nothing is tuned.",
        "xla_gpu_graph_level": "It decides how kernels are launched, and nothing is run.",
        "xla_gpu_graph_min_graph_size": "It decides how kernels are launched, and nothing is run.",
        "xla_gpu_enable_command_buffer": "It decides how kernels are launched, and nothing is run.",
        "xla_dump_to": "The page shows the program as text.",
        "xla_dump_hlo_as_text": "The page shows the program as text.",
        "xla_dump_hlo_pass_re": "The page shows the program as text.",
    }
)
_OF_OTHERS = {
    "xla_cpu_": "The program for host devices has the same options for everyone.",
    "xla_tpu_": "Options of the compiler for TPUs are not taken.",
}
# Options that XLA has lost, or that people take to exist.
_GONE = {
    "xla_gpu_all_reduce_promotion": "Write `xla_disable_hlo_passes=all-reduce-promotion` to leave that pass out.",
    **dict.fromkeys(
        (
            "xla_gpu_enable_async_collectives",
            "xla_gpu_enable_async_all_gather",
            "xla_gpu_enable_async_all_reduce",
            "xla_gpu_enable_async_reduce_scatter",
            "xla_gpu_enable_async_all_to_all",
            "xla_gpu_enable_async_collective_broadcast",
            "xla_gpu_enable_async_collective_permute",
        ),
        "Collectives are asynchronous unless xla_gpu_disable_async_collectives names them.",
    ),
}


def reason_without_effect(name: str) -> str:
    """Why an option changes nothing here, or nothing if it does or is not known."""
    by_prefix = next((why for prefix, why in _OF_OTHERS.items() if name.startswith(prefix)), "")
    return WITHOUT_EFFECT.get(name, by_prefix)


def read_option(name: str, value: str) -> str:
    """The value in the form that is stored. Raises `ValueError`: the option is not taken, or not with this value."""
    if (option := OPTIONS.get(name)) is not None:
        return option.read(value)
    if name in _GONE:
        raise ValueError(f"XLA no longer has the option {name}. {_GONE[name]}")
    raise ValueError(
        f"{name[:100]!r} is not among the XLA options that are taken here. Remove it, or use {_nearest(name)}."
    )


def _nearest(name: str) -> str:
    words = set(name.split("_"))
    fitting = max(OPTIONS, key=lambda each: len(words & set(each.split("_"))))
    return f"one of them, such as {fitting}"


def split_flags(text: str) -> list[tuple[str, str]]:
    """The names and the values of options as `XLA_FLAGS` has them; one without a value is set to true.

    Raises:
      ValueError: something is not an option of XLA; the message says how one is written.
    """
    found = []
    for word in text.split():
        name, equals, value = word.removeprefix("--").partition("=")
        if not _NAME.fullmatch(name):
            raise ValueError(f"{word[:80]!r} is not an option of XLA. Write one as --NAME=VALUE.")
        found.append((name, value.strip("'\"") if equals else "true"))
    return found


def read_typed(text: str) -> dict[str, str]:
    """Read options as a person types them: separated by spaces or on lines, with or without dashes.

    Raises `ValueError` as `read_given` does, or if something is not an option of XLA.
    """
    return read_given(split_flags(text))


def read_given(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Check options that a person chose, and bring them into the stored form; the last one of a name counts.

    Raises:
      ValueError: some are not taken, or have no effect here. The message names each of them.
    """
    found, faults = {}, []
    for name, value in pairs:
        try:
            if why := reason_without_effect(name):
                raise ValueError(f"{name[:100]} has no effect here. {why} Leave it out.")
            found[name] = read_option(name, value)
        except ValueError as fault:
            faults.append(str(fault))
    if faults:
        raise ValueError(" ".join(faults[:_MOST_FAULTS]))
    return found


def written(options: Mapping[str, str]) -> str:
    """The options as a person types them, one on each line."""
    return "\n".join(f"--{name}={value}" for name, value in options.items())


def for_compiler(options: Mapping[str, str]) -> dict[str, str | bool]:
    """The options as a compilation takes them."""
    return {name: OPTIONS[name].for_compiler(value) for name, value in options.items()}
