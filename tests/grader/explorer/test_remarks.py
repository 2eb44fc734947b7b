"""Remarks about collectives beside their numbers."""

import pytest

from app.presentation.totals import headline
from grader.explorer.description import explored
from grader.explorer.exploration import ExploredCollective
from grader.explorer.remarks import remarks
from grader.inputs.explored_function import read_function
from tests.grader.checks.program.made_up_programs import EIGHT, exchange, part, program

pytestmark = pytest.mark.xdist_group("explored functions")

START = """\
import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P

"""
NARROW = "bfloat16, which host CPUs widen: chips send 50 % of these bytes"


def listed(judge, body: str, inputs: str) -> list[ExploredCollective]:
    [found] = explored(judge.inspect_function(read_function("f", "x=4, y=2", inputs), START + body)).programs
    return found.collectives


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ([8], ""),
        ([None, None], ""),
        ([8, None], "sent together with another array"),
        ([8, 7, 6, 5], "sent together with lines 5, 6 and 7"),
        ([8, 7, 6, 5, 4], "sent together with lines 4, 5, 6 and 1 more"),
    ],
)
def test_three_lines_are_named_that_are_sent_together(lines, text):
    parts = tuple(part(64, (0,), line=line) for line in lines)
    merged = exchange("all-reduce", 64 * len(lines), parts=parts)
    [found] = explored([program(EIGHT, collectives=[merged])]).programs
    assert remarks(found.collectives)[0] == text


def test_a_partial_permute_says_how_many_devices_send(judge):
    body = """\
def f(mesh, a):
    def local(a):
        some = lax.ppermute(a, "x", [(0, 1), (1, 2)])
        return some + lax.ppermute(a, "x", [(0, 1), (1, 2), (2, 3), (3, 0)])

    return jax.shard_map(local, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)(a)
"""
    found = listed(judge, body, 'a: float32[8, 4] P("x")')
    assert {each.line: (each.senders, each.devices) for each in found} == {8: (4, 8), 9: (None, None)}
    assert set(remarks(found)) == {"4 of 8 devices send", ""}


def test_a_loop_of_unknown_length_says_so(judge):
    body = """\
def f(mesh, a):
    def local(a):
        return lax.while_loop(lambda a: jnp.max(a) < 5, lambda a: lax.psum(a, "x") * 0.5, a)

    return jax.shard_map(local, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)(a)
"""
    found = listed(judge, body, 'a: float32[8, 4] P("x")')
    assert remarks(found) == ["its loop runs an unknown number of times"]


def test_the_total_says_how_often_a_loop_of_unknown_length_counts():
    loop = exchange("all-reduce", 64, executions=None, loops=("while",))
    [found] = explored([program(EIGHT, collectives=[loop])]).programs
    assert "each device sends 56 B (loops of unknown length counted once)" in headline(found)


def test_what_the_program_sends_as_bfloat16_is_half_of_what_host_cpus_send(judge):
    body = """\
def f(mesh, a, b):
    def local(a, b):
        gathered = lax.all_gather(a, "y", axis=1, tiled=True)
        moved = lax.ppermute(b, "y", [(0, 1), (1, 0)])
        summed = lax.psum(a, "y")
        wide = lax.psum(a.astype(jnp.float32) * 2, "y")
        return gathered, moved, summed, wide

    specs = P("x", "y"), P("x", "y")
    return jax.shard_map(local, mesh=mesh, in_specs=specs, out_specs=(P("x"), P("x", "y"), P("x"), P("x")))(a, b)
"""
    body = body.replace('P("x")))(a', 'P("x")), check_vma=False)(a')
    found = listed(judge, body, 'a: bfloat16[8, 16] P("x", "y")\nb: float32[8, 16] P("x", "y")')
    narrow = {each.line: (each.written_dtypes, each.bytes, each.written_bytes) for each in found}
    assert narrow == {
        8: (["bfloat16"], 2 * 64, 64),
        9: ([], 2 * 64, None),
        10: (["bfloat16"], 64, 32),
        11: ([], 64, None),
    }
    assert NARROW in remarks(found)[[each.line for each in found].index(8)]


def test_what_the_partitioner_sends_of_a_line_in_bfloat16_alone_is_half_of_it(judge):
    body = """\
def loss(w, x):
    h = jnp.tanh(x @ w)
    return jnp.mean(h.astype(jnp.float32) ** 2)

def f(w, x):
    return jax.grad(loss)(w, x), loss(w, x)
"""
    found = listed(judge, body, 'w: bfloat16[64, 64] P("x")\nx: bfloat16[32, 64] P("x")')
    # A line that also computes with float32 does not say which of the two it sends.
    assert {each.line: each.written_dtypes for each in found} == {7: ["bfloat16"], 8: []}
