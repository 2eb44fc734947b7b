"""Time the Explorer for chips that the machine lacks: from the POST of a source to its program for 8 and for 256.

A step with 12 leaves is compiled for 8 H100s, then requested again when its result is stored. A step of a model with
6.6B parameters is compiled for 256 H100s. If libtpu is installed, both are also compiled for as many v5e chips.
"""

import statistics
import tempfile
from pathlib import Path

from app.learning.explorer.examples import example_of
from benchmarks.errors import BenchmarkFailed
from benchmarks.measure import Measured
from benchmarks.server import Say, Server
from benchmarks.workload import PROGRAM_SLUG, copy_package
from grader.core.chips import compiler_of

_ROUNDS, _LARGE_ROUNDS = 15, 3
_LARGE = "decoder-7b"


def compiler_for_gpus() -> str:
    """Return the installed compiler for GPUs. Raises `BenchmarkFailed` if there is none."""
    found = compiler_of("gpu")
    if found is None:
        raise BenchmarkFailed("The part `lens` needs the compiler for GPUs. Install it with: ./meshgrade install-gpu")
    return found


def measure_lens(say: Say, *, quick: bool) -> Measured:
    """Measure programs for chips.

    Raises `BenchmarkFailed` if the service does not start, a source has no program, or there is no compiler.
    """
    compilers = [compiler_for_gpus(), *filter(None, [compiler_of("tpu")])]
    rounds, large_rounds = (1, 0) if quick else (_ROUNDS, _LARGE_ROUNDS)
    large = example_of(_LARGE)
    assert large is not None
    function = large.function
    ms: dict[str, list[float]] = {name: [] for name in ("gpu", "again", "large", "tpu", "tpu_large")}
    with tempfile.TemporaryDirectory(prefix="meshgrade-bench-") as made:
        folder = Path(made)
        package = copy_package(PROGRAM_SLUG, folder / "problems")
        say("starting the service; it makes the cases and runs the reference")
        with Server(folder / "data", folder / "problems", f"{package.slug}/attempts", say) as server:

            def explore(name: str, number: int, chip: str, *, large_one: bool = False) -> None:
                # Make each source different, so that its result is not cached yet.
                source = f"{large.source if large_one else package.reference}\n# {number}\n"
                subject = function.model_dump(mode="json") if large_one else None
                ms[name].append(server.explore(package.slug, source, chip=chip, function=subject).taken_ms)

            for number in range(rounds):
                server.settle()
                explore("gpu", number, "h100")
                explore("again", number, "h100")
                if len(compilers) > 1 and number < large_rounds + quick:
                    explore("tpu", number, "v5e")
                say(f"round {number + 1} of {rounds}: {ms['gpu'][-1]:,.0f} ms, again {ms['again'][-1]:,.0f} ms")
            for number in range(large_rounds):
                server.settle()
                explore("large", number, "h100", large_one=True)
                if len(compilers) > 1:
                    explore("tpu_large", number, "v5e", large_one=True)
                say(f"at full size, round {number + 1} of {large_rounds}: {ms['large'][-1]:,.0f} ms")
    figures = {
        f"lens.{name}_ms_p50": round(statistics.median(found), 3) if found else None for name, found in ms.items()
    }
    return Measured(figures, ", ".join(compilers), {"small": rounds, "large": large_rounds})
