"""Libraries that programs of other authors import."""

import pytest

from tests.grader.explorer.test_own_programs import HEAD, collectives, program_of, refusal_of, specs

pytestmark = pytest.mark.xdist_group("explored functions")

LIBRARIES = (
    HEAD
    + """
import optax
import orbax.checkpoint as ocp
import scipy.linalg
import tensorstore
import treescope
from absl import flags, logging
from flax import linen, nnx, struct
from flax.training import checkpoints, orbax_utils, train_state

manager = ocp.CheckpointManager("/tmp/run", options=ocp.CheckpointManagerOptions(max_to_keep=2))
checkpointer = ocp.StandardCheckpointer()


def f(x):
    if manager.latest_step() is not None:
        ocp.args.StandardSave({"x": x})
    return optax.global_norm({"x": x})
"""
)


def test_libraries_that_programs_import_are_there(judge):
    program = program_of(judge, LIBRARIES, "d=8", 'x: float32[64] P("d")')
    assert [(each.collective, each.line) for each in program.collectives] == [("all-reduce", 26)]


LIBRARIES_FOR_MODELS = (
    HEAD
    + """
import chex
import equinox as eqx
from einops import einsum, rearrange
from jaxtyping import Array, Float


@chex.dataclass
class Batch:
    x: Float[Array, "batch sequence features"]


def init(mesh, seed):
    return eqx.nn.Linear(32, 8, key=jax.random.key(seed))


@eqx.filter_jit
def f(head, x: Float[Array, "batch sequence features"]):
    chex.assert_rank(x, 3)
    x = Batch(x=x).x
    heads = rearrange(x, "b s (h d) -> b h s d", h=4)
    scores = einsum(heads, heads, "b h i d, b h j d -> b h i j")
    mixed = einsum(jax.nn.softmax(scores), heads, "b h i j, b h j d -> b h i d")
    y = jax.vmap(jax.vmap(head))(rearrange(mixed, "b h s d -> b s (h d)"))
    return jnp.mean(y, axis=(0, 1))
"""
)


def test_libraries_for_models_are_there(judge):
    x = 'x: float32[16, 8, 32] P("d", None, None)'
    program = program_of(judge, LIBRARIES_FOR_MODELS, "d=4", x, init="init")
    assert list(specs(program)) == ["head/weight", "head/bias", "x", "result"]
    assert collectives(program) == [("all-reduce", ("d",), 32, 33)]


@pytest.mark.parametrize(
    "line",
    ["ocp.CheckpointManager('/home/me/run')", "ocp.StandardCheckpointer().save('/tmp/run', {'w': jnp.zeros(8)})"],
    ids=["elsewhere", "saved"],
)
def test_a_checkpoint_that_cannot_be_made_says_why(judge, line):
    source = HEAD + f"import orbax.checkpoint as ocp\n{line}\ndef f(x):\n    return x\n"
    message, number = refusal_of(judge, source, "d=8", "x: float32[8]")
    assert number == 10
    assert message.endswith("open sockets, map files into memory, or use files outside its scratch, /tmp.")
