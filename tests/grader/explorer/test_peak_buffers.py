"""What fills a program's temporaries when they take the most, by line."""

import pytest

from grader.explorer.description import explored
from grader.explorer.exploration import ExploredPeak, ExploredProgram
from grader.inputs.explored_function import read_function
from grader.program.hlo import read_hlo
from grader.program.peak_buffers import peak_buffers

pytestmark = pytest.mark.xdist_group("explored functions")
SOURCE = """
import jax
import jax.numpy as jnp

def f(x, w):
    def body(c, _):
        wide = jnp.sin(c @ w)
        return wide @ w.T, None

    c, _ = jax.lax.scan(body, x, None, length=3)
    return c.sum(0)
"""


def explored_peak(judge, source: str, inputs: str) -> tuple[ExploredProgram, ExploredPeak]:
    [program] = explored(judge.inspect_function(read_function("f", "data=2", inputs), source)).programs
    assert program.peak is not None
    return program, program.peak


def test_the_peak_names_the_line_of_what_fills_it(judge):
    program, peak = explored_peak(judge, SOURCE, 'x: float32[64, 64] P("data")\nw: float32[64, 4096]')
    temporaries = next(each.mine for each in program.memory.rows if each.name == "temporaries")
    together = sum(each.bytes for each in peak.buffers) + peak.unlisted_bytes
    # The rest is what XLA adds so that buffers begin at multiples of 64 bytes.
    assert temporaries - 64 * len(peak.buffers) <= together <= temporaries
    largest = peak.buffers[0]
    assert (largest.line, largest.shape, largest.bytes) == (7, "f32[32,4096]", 32 * 4096 * 4)
    assert [each.bytes for each in peak.buffers] == sorted((each.bytes for each in peak.buffers), reverse=True)


def test_a_program_without_temporaries_has_none(judge):
    _, peak = explored_peak(judge, "def f(x):\n    return x * 2\n", 'x: float32[64] P("data")')
    assert peak == ExploredPeak(buffers=[], unlisted_buffers=0, unlisted_bytes=0)


def test_what_is_too_long_is_not_read():
    module = read_hlo("HloModule m\n\nENTRY %a (p: f32[]) -> f32[] {\n  ROOT %p = f32[] parameter(0)\n}\n")
    assert peak_buffers(b"\x80" * ((4 << 20) + 1), b"", module) is None
    assert peak_buffers(b"", b"", module) is None
