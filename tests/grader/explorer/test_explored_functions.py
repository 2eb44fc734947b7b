"""Functions that belong to no problem, compiled by the real judge: the examples of the Explorer, and others."""

from dataclasses import replace

import pytest

from app.learning.explorer.examples import all_examples, shipped_results
from grader.core.errors import SubmissionFault
from grader.explorer.description import explored, fault_of
from grader.explorer.exploration import Explored
from grader.inputs.explored_function import read_function
from grader.program.measurement import Measured
from tests.grader.explorer.example_results import without_long_listings

pytestmark = pytest.mark.xdist_group("explored functions")
INPUTS = 'x: float32[16, 8] P("data")'


def named(result: Explored) -> list[str]:
    [program] = result.programs
    return [
        f"{each.collective} over {' and '.join(each.axes or ())}{', in a loop' if each.in_loop else ''}"
        for each in program.collectives
        if each.sent_with is None
    ]


@pytest.mark.parametrize("example", all_examples(), ids=lambda example: example.slug)
def test_an_example_has_the_collectives_that_it_names(judge, example):
    result = explored(judge.inspect_function(example.function, example.source))
    assert named(result) == list(example.expected)
    assert without_long_listings(result) == shipped_results()[example.slug]
    [program] = result.programs
    assert all(each.line for each in program.collectives)
    given = {leaf.path: leaf.got_spec for leaf in program.leaves.leaves if leaf.when == "in"}
    assert list(given) == [each.name for each in example.function.inputs]
    assert "no sharding over the mesh" not in given.values()


def test_the_compiled_program_leads_to_the_lines(judge):
    example = all_examples()[0]
    [program] = explored(judge.inspect_function(example.function, example.source)).programs
    assert program.hlo[0].caller == ""
    assert all(each.caller for each in program.hlo[1:])
    lines = {each.text.split("(")[0].split()[-1]: each.line for part in program.hlo for each in part.instructions}
    assert lines["all-reduce"] == 6
    assert lines["parameter"] is None
    written = [each for part in program.stablehlo for each in part.instructions]
    assert program.stablehlo[0].name == "main"
    assert [each.line for each in written if "dot_general" in each.text] == [5, 6]
    assert not any("loc(" in each.text for each in written)


def test_the_ring_passes_seven_times(judge):
    [ring] = [each for each in all_examples() if each.slug == "ring"]
    [program] = explored(judge.inspect_function(ring.function, ring.source)).programs
    assert [each.executions for each in program.collectives] == [7]


@pytest.mark.parametrize(
    ("source", "reason", "message"),
    [
        ("def g(x):\n    return x\n", "missing_entry", "does not define `f`"),
        ("def f(x:\n", "syntax_error", ""),
        ("def f(x, y):\n    return x\n", "error", "missing 1 required positional argument"),
        ("def f(x):\n    return x if x[0, 0] > 0 else -x\n", "not_exportable", "must therefore not depend on a value"),
        ("def f(x):\n    return None\n", "wrong_structure", "`f` returns a result that contains no array."),
        (
            "def f(x):\n    return 'x'\n",
            "wrong_structure",
            "a result whose leaf result is a str, not an array.",
        ),
        ("import jax\n\ndef f(x):\n    jax.debug.print('{}', x)\n    return x\n", "not_exportable", "jax.debug.print"),
    ],
)
def test_a_function_without_a_program_says_why(judge, source, reason, message):
    with pytest.raises(SubmissionFault) as fault:
        judge.inspect_function(read_function("f", "data=4", INPUTS), source)
    assert (fault.value.reason, message in str(fault.value)) == (reason, True)


def test_a_mesh_may_have_256_devices(judge):
    function = read_function("f", "data=64, model=4", 'x: float32[1024, 512] P("data", "model")')
    [program] = explored(judge.inspect_function(function, "def f(x):\n    return x.sum(1)\n")).programs
    [found] = program.collectives
    assert (found.collective, found.axes, found.group_size) == ("all-reduce", ("model",), 4)
    assert program.memory.rows[0].mine == 16 * 128 * 4


def test_large_inputs_need_no_memory(judge):
    """Eight times 64 GiB: nothing is run. The program for CPUs is passed on before the chip's compiler begins."""
    function = read_function("f", "data=8", 'x: float32[131072, 1048576] P("data")')
    told: list[Measured] = []
    source = "def f(x):\n    return x.sum()\n"
    measured = judge.inspect_function(function, source, chip="v5e", on_first=told.append)
    [program] = explored(measured).programs
    assert program.memory.rows[0].mine == 64 << 30
    assert program.on_chip is not None
    assert told == [replace(measured[0], on_chip=None)]


def test_leaves_of_one_argument_are_a_pytree(judge):
    source = """
import jax

def step(state, x, other):
    assert list(state) == ["params", "count"], state
    assert [list(layer) for layer in state["params"]] == [["w", "b"], ["w"]]
    assert sorted(other) == ["0", "2"]
    for layer in state["params"]:
        x = x @ layer["w"]
    return {"x": x + other["2"], "count": state["count"] + 1}
"""
    inputs = """
        state/params/0/w: float32[8, 16] P(None, "data")
        x: float32[4, 8]
        other/2: float32[8]
        state/params/0/b: float32[16]
        state/params/1/w: float32[16, 8] P("data")
        state/count: int32[]
        other/0: float32[8]
    """
    [program] = explored(judge.inspect_function(read_function("step", "data=4", inputs), source)).programs
    given = {leaf.path: leaf.got_spec for leaf in program.leaves.leaves if leaf.when == "in"}
    assert given == {
        "state/params/0/w": "P(None, 'data')",
        "x": "P()",
        "other/2": "P()",
        "state/params/0/b": "P()",
        "state/params/1/w": "P('data')",
        "state/count": "P()",
        "other/0": "P()",
    }
    assert [each.collective for each in program.collectives] == ["all-reduce"]


def test_a_native_kernel_is_compiled_in_a_verifier_of_its_own(judge):
    source = "import jax.numpy as jnp\n\ndef f(x):\n    return jnp.linalg.qr(x)[1]\n"
    [program] = explored(judge.inspect_function(read_function("f", "data=1", "x: float32[16, 8]"), source)).programs
    assert [leaf.shape for leaf in program.leaves.leaves if leaf.when == "out"] == [(8, 8)]


def test_what_xla_cannot_compile_for_cpus_needs_a_chip(judge):
    source = """
import jax
import jax.numpy as jnp
from jax import lax


def f(mesh, x):
    def local(x):
        each = jnp.ones((mesh.size,), jnp.int32)
        return lax.ragged_all_to_all(x, jnp.zeros_like(x), each, each, each, each, axis_name="data")

    return jax.shard_map(local, mesh=mesh, in_specs=jax.P("data"), out_specs=jax.P("data"))(x)
"""
    function = read_function("f", "data=8", INPUTS)
    with pytest.raises(SubmissionFault, match="To see its program, choose a chip to compile it for") as caught:
        judge.inspect_function(function, source)
    assert caught.value.reason == "not_exportable"
    assert "XLA does not compile `ragged_all_to_all` for CPUs, only for GPUs and TPUs." in str(caught.value)


PALLAS = """\
from jax.experimental import pallas as pl

def double(x_ref, o_ref):
    o_ref[...] = x_ref[...] * 2

def f(x):
    return pl.pallas_call(double, out_shape=x)(x)
"""
CALL = "import jax\n\ndef f(x):\n    return {}\n"
SCALED = """\
import jax
import jax.numpy as jnp

def f(x):
    rows, scales = jnp.ones((1, 64, 256), jnp.float8_e4m3fn), jnp.ones((1, 64, 8), jnp.float8_e8m0fnu)
    return x[0, 0] * jax.nn.scaled_matmul(rows, rows, scales, scales)
"""
PARTITIONED = """\
from jax.experimental.custom_partitioning import custom_partitioning


@custom_partitioning
def doubled(x):
    return x * 2

def partition(mesh, args, result):
    return mesh, lambda x: x * 2, result.sharding, (args[0].sharding,)

doubled.def_partition(partition=partition, sharding_rule="i j -> i j")

def f(x):
    return doubled(x)
"""
INSPECTED = """\
import jax
from jax.debug import visualize_array_sharding

def f(x):
    y = x * 2
    jax.debug.inspect_array_sharding(y, callback=print)
    visualize_array_sharding(y)
    jax.debug.inspect_array_sharding(x, callback=print)
    return y
"""


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        (PARTITIONED, 14, "Divide the work yourself with `jax.shard_map`"),
        (SCALED, 6, "Multiply by the scales"),
        (CALL.format("jax.ffi.ffi_call('own', x)(x)"), 4, "Write it with `jax.numpy` and `jax.lax`."),
        (PALLAS, 7, "Pass `interpret=True` to `pallas_call`"),
        (CALL.format("x.nothing"), 4, "has no attribute"),
    ],
    ids=["custom_partitioning", "scaled", "foreign", "pallas", "error"],
)
def test_what_has_no_program_has_a_line(judge, source, line, message):
    with pytest.raises(SubmissionFault) as raised:
        judge.inspect_function(read_function("f", "data=4", INPUTS), source)
    fault = fault_of(raised.value, "source").fault
    assert fault is not None
    assert (fault.line, message in fault.message) == (line, True)


def test_a_question_where_an_array_lives_is_left_out_with_a_note(judge):
    [program] = explored(judge.inspect_function(read_function("f", "data=4", INPUTS), INSPECTED)).programs
    table = "The table of arrays in between shows where each array lives, at the line that computes it."
    assert program.remarks[-2:] == [
        f"Lines 6 and 8 call `jax.debug.inspect_array_sharding`, which is left out. {table}",
        f"Line 7 calls `jax.debug.visualize_array_sharding`, which is left out. {table}",
    ]
    [doubled] = program.arrays
    assert (doubled.line, doubled.spec) == (5, "P('data')")


def test_an_approximate_top_k_is_compiled(judge):
    source = CALL.format("jax.lax.approx_min_k(x, 3)[0]")
    [program] = explored(judge.inspect_function(read_function("f", "data=4", INPUTS), source)).programs
    assert [leaf.shape for leaf in program.leaves.leaves if leaf.when == "out"] == [(16, 3)]


def test_an_interpreted_kernel_is_compiled(judge):
    source = PALLAS.replace("out_shape=x)", "out_shape=x, interpret=True)")
    [program] = explored(judge.inspect_function(read_function("f", "data=4", INPUTS), source)).programs
    assert [leaf.shape for leaf in program.leaves.leaves if leaf.when == "out"] == [(16, 8)]


def test_what_is_in_a_branch_runs_at_most_so_often(judge):
    source = """\
import jax
from jax.sharding import PartitionSpec as P

def f(mesh, x, w):
    def local(x, w):
        x = jax.lax.cond(x[0, 0] > 0, lambda x: x @ w, lambda x: x, x)
        return jax.lax.psum(jax.lax.cond(w[0, 0] > 0, lambda x: jax.lax.pmax(x, "data"), lambda x: x, x), "data")

    return jax.shard_map(local, mesh=mesh, in_specs=(P("data"), P()), out_specs=P(), check_vma=False)(x, w)
"""
    function = read_function("f", "data=4", f"{INPUTS}\nw: float32[8, 8]")
    [program] = explored(judge.inspect_function(function, source)).programs
    assert [(each.line, each.conditional) for each in program.collectives] == [(7, True), (7, False)]
    assert [(each.line, each.conditional) for each in program.flops_by_line] == [(6, True)]


DATA_PARALLEL = """\
import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P

def step(mesh, w1, w2, x):
    def local(w1, w2, x):
        def loss_of(w1, w2):
            return jnp.mean((jnp.tanh(x @ w1) @ w2) ** 2)

        loss, grads = jax.value_and_grad(loss_of, argnums=(0, 1))(w1, w2)
        grads = jax.tree.map(lambda grad: lax.pmean(grad, "data"), grads)
        return grads, lax.pmean(loss, "data")

    return jax.shard_map(local, mesh=mesh, in_specs=(P(), P(), P("data")), out_specs=P(), check_vma=False)(w1, w2, x)
"""
WEIGHTS = 'w1: float32[256, 256]\nw2: float32[256, 256]\nx: float32[32, 256] P("data")'


def test_merged_collectives_keep_their_lines(judge):
    """XLA sends the gradients and the loss in one all-reduce, whose metadata may be that of the loss."""
    [program] = explored(judge.inspect_function(read_function("step", "data=8", WEIGHTS), DATA_PARALLEL)).programs
    assert [(each.line, each.bytes, each.executions, each.sent_with) for each in program.collectives] == [
        (12, 2 * 256 * 256 * 4, 1, None),
        (13, 4, 1, 0),
    ]
    assert sum(each.ring_bytes for each in program.collectives) == -(-2 * 7 * (2 * 256 * 256 * 4 + 4) // 8)


def test_what_the_partitioner_merges_has_the_lines_of_its_products(judge):
    source = """\
import jax
import jax.numpy as jnp

def loss_of(w1, w2, x):
    h = jnp.tanh(x @ w1)
    y = h @ w2
    return jnp.mean(y ** 2)

def step(w1, w2, x):
    return jax.value_and_grad(loss_of, argnums=(0, 1))(w1, w2, x)
"""
    [program] = explored(judge.inspect_function(read_function("step", "data=8", WEIGHTS), source)).programs
    assert sorted((each.line, each.bytes) for each in program.collectives) == [(5, 1 << 18), (6, 1 << 18), (7, 4)]
    assert [each.sent_with for each in program.collectives] == [None, 0, 0]


# Two concatenations of parts of one element for each device: XLA's verifier refuses what its partitioner wrote.
JOINS = """\
import jax
import jax.numpy as jnp


def joins(x):
    def cut(low, high):
        return jax.lax.pad(x, jnp.float32(0), [(-low, -high, 0)])

    last = x.shape[0] - 1
    first = jax.lax.concatenate([cut(last, 0), cut(0, 1)], 0)
    second = jax.lax.concatenate([cut(1, 0), cut(0, last)], 0)
    return first + second
"""


def test_a_failure_inside_xla_names_the_line_that_xla_suspects(judge):
    with pytest.raises(SubmissionFault) as failed:
        judge.inspect_function(read_function("joins", "d=4", 'x: float32[4] P("d")'), JOINS)
    fault = fault_of(failed.value, "source").fault
    assert fault is not None
    assert fault.message.startswith("XLA itself fails on this program")
    assert "This is not a mistake in your code. It suspects line 11." in fault.message
    assert fault.line == 11
    assert "Expected instruction to have shape equal to" in fault.compiler
