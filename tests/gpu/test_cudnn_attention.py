"""The attention of cuDNN has no program for CPUs. The lens compiles it for GPUs, divided as JAX divides it there."""

import pytest

from grader.core.errors import SubmissionFault
from grader.explorer.description import explored
from grader.explorer.exploration import ExploredProgram
from grader.inputs.explored_function import read_function

pytestmark = pytest.mark.xdist_group("gpu")

HEAD = """
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def attend(q, k, v, **options):
    return jax.nn.dot_product_attention(q, k, v, implementation="cudnn", **options)
"""
INPUT = 'bfloat16[8, 256, 8, 64] P("data", None, "model")'
MESHES = ("data=4, model=2", "data=4!, model=2!")
FORWARD, BACKWARD = "__cudnn$fmhaSoftmax", "__cudnn$fmhaSoftmaxBackward"
# Each kind of call: the inner source, and what the program calls in its order.
KINDS = {
    "forward": ("def f(q, k, v):\n    return attend(q, k, v, is_causal=True)\n", [FORWARD]),
    "with a bias": (
        "def f(q, k, v):\n    return attend(q, k, v, bias=jnp.ones((1, 1, 256, 256), q.dtype))\n",
        ["__cudnn$fmhaScaleBiasSoftmax"],
    ),
    "gradient": (
        "def f(q, k, v):\n    return jax.grad(lambda *x: attend(*x).astype(jnp.float32).sum(), (0, 1, 2))(q, k, v)\n",
        [FORWARD, BACKWARD],
    ),
    "rematerialized layers": (
        "def f(q, k, v):\n"
        "    def loss(q, k, v):\n"
        "        layer = jax.checkpoint(lambda h, _: (attend(h, k, v), None))\n"
        "        return jax.lax.scan(layer, q, None, length=4)[0].astype(jnp.float32).sum()\n"
        "    return jax.grad(loss, (0, 1, 2))(q, k, v)\n",
        [FORWARD, FORWARD, BACKWARD],
    ),
}


# A layer with tensor parallelism, whose parameters are also divided by rows.
LAYER = """
def f(w, x):
    def loss(w):
        q, k, v = jnp.split((x @ w["qkv"]).reshape(16, 256, 24, 64), 3, 2)
        mixed = jax.nn.dot_product_attention(q, k, v, implementation="cudnn")
        return jnp.mean(jnp.square((x + mixed.reshape(x.shape) @ w["out"]).astype(jnp.float32)))

    return jax.grad(loss)(w)
"""
WEIGHTS = (
    'w/qkv: bfloat16[512, 1536] P("data", "model")\nw/out: bfloat16[512, 512] P("model", "data")\n'
    'x: bfloat16[16, 256, 512] P("data")'
)


def program_of(judge, source: str, mesh: str = MESHES[0], each: str = INPUT, chip: str = "h100") -> ExploredProgram:
    inputs = "\n".join(f"{name}: {each}" for name in "qkv")
    [program] = explored(judge.inspect_function(read_function("f", mesh, inputs), HEAD + source, chip=chip)).programs
    assert program.on_chip is not None
    return program


def calls(program: ExploredProgram) -> list[str]:
    steps = [step for part in program.on_chip.computations for step in part.steps if step.target]
    assert {step.line for step in steps} <= {8}
    return sorted(step.target for step in steps)


@pytest.mark.parametrize(("source", "called"), KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("mesh", MESHES, ids=["auto", "explicit"])
def test_each_device_attends_to_its_part_and_sends_nothing(judge, mesh, source, called):
    program = program_of(judge, source, mesh)
    assert program.is_only_on_chip
    assert calls(program) == sorted(called)
    assert program.collectives == []
    # An eighth of each input, in bfloat16.
    assert program.memory.rows[0].mine == 3 * 8 * 256 * 8 * 64 * 2 // 8


def test_everything_else_is_sent_as_with_portable_attention(judge):
    function = read_function("f", MESHES[0], WEIGHTS)
    sent = []
    for source in (LAYER, LAYER.replace('"cudnn"', '"xla"')):
        [program] = explored(judge.inspect_function(function, HEAD + source, chip="h100")).programs
        parts = program.on_chip.computations
        sent.append(
            [(each.collective, each.axes, each.bytes, each.line) for part in parts for each in part.collectives]
        )
    with_cudnn, portable = sent
    assert with_cudnn == portable != []


def test_an_attention_that_its_author_divides_is_taken_as_it_is(judge):
    source = (
        "def f(mesh, q, k, v):\n"
        '    part = P("data", None, "model")\n'
        "    return jax.shard_map(attend, mesh=mesh, in_specs=part, out_specs=part, check_vma=False)(q, k, v)\n"
    )
    program = program_of(judge, source)
    assert (calls(program), program.collectives) == ([FORWARD], [])


def test_operands_that_jax_cannot_divide_are_refused_in_its_words(judge):
    with pytest.raises(SubmissionFault) as failed:
        program_of(judge, KINDS["forward"][0], each='bfloat16[8, 256, 8, 64] P(None, "data")')
    assert "JAX does not lower it for a GPU either: Sharding on sequence dim is not allowed." in str(failed.value)
    assert failed.value.detail["traceback"][-1]["line"] == 8


def test_only_newer_gpus_have_large_heads(judge):
    large = 'bfloat16[8, 256, 8, 256] P("data", None, "model")'
    assert calls(program_of(judge, KINDS["forward"][0], each=large)) == [FORWARD]
    with pytest.raises(SubmissionFault, match="head dim must be <= 128"):
        program_of(judge, KINDS["forward"][0], each=large, chip="a100")
