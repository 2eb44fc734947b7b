"""The graph of programs that were compiled: what a reader of the source expects to see of it."""

import pytest

from grader.explorer.description import explored
from grader.explorer.exploration import ExploredProgram
from grader.explorer.graph import ExploredGraph
from grader.inputs.explored_function import read_function

pytestmark = pytest.mark.xdist_group("explored functions")
STEP = """
import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

def step(mesh, state, x):
    def loss_fn(w):
        w = jax.lax.with_sharding_constraint(w, NamedSharding(mesh, P()))
        return jnp.mean((x @ w) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state["w"])
    return {"w": state["w"] - 0.1 * grads, "count": state["count"] + 1}, loss
"""
STEP_INPUTS = 'state/w: float32[64, 64] P("data")\nstate/count: int32[]\nx: float32[32, 64] P("data")'
RING = """
import jax
from jax.sharding import PartitionSpec as P

def ring(mesh, x):
    def local(part):
        def one(carry, _):
            total, block = carry
            block = jax.lax.ppermute(block, "data", [(i, (i + 1) % 4) for i in range(4)])
            return (total + block @ part.T @ part, block), None

        (total, _), _ = jax.lax.scan(one, (part, part), None, length=3)
        return total

    return jax.shard_map(local, mesh=mesh, in_specs=P("data"), out_specs=P("data"))(x)
"""
LAYERS = """
import jax
import jax.numpy as jnp

def attention(x, w):
    return jax.nn.softmax(x @ w["q"]) @ w["o"]

def mlp(x, w):
    return jax.nn.gelu(x @ w["up"]) @ w["down"]

def loss_of(layers, x):
    for w in layers:
        x = x + attention(x, w)
        x = x + mlp(x, w)
    return jnp.mean(x**2)

def step(params, mu, nu, x):
    loss, grads = jax.value_and_grad(loss_of)(params, x)
    mu = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mu, grads)
    nu = jax.tree.map(lambda n, g: 0.99 * n + 0.01 * g * g, nu, grads)
    return jax.tree.map(lambda p, m, n: p - m / (jnp.sqrt(n) + 1e-8), params, mu, nu), mu, nu, loss
"""
_LEAVES = (("q", "64, 64", 'None, "model"'), ("o", "64, 64", '"model"'), ("up", "64, 128", 'None, "model"'))
LAYERS_INPUTS = "\n".join(
    f"{tree}/{layer}/{name}: float32[{shape}] P({spec})"
    for tree in ("params", "mu", "nu")
    for layer in range(12)
    for name, shape, spec in (*_LEAVES, ("down", "128, 64", '"model"'))
)


def program_of(judge, name: str, mesh: str, inputs: str, source: str) -> ExploredProgram:
    [program] = explored(judge.inspect_function(read_function(name, mesh, inputs), source)).programs
    return program


def graph_of(program: ExploredProgram) -> ExploredGraph:
    assert program.graph is not None
    return program.graph


def edges(graph: ExploredGraph) -> set[tuple[str, str]]:
    names = [f"{each.kind} {each.name}{', backward' * each.is_backward}" for each in graph.nodes]
    return {(names[each.source], names[each.target]) for each in graph.edges}


def test_a_training_step_is_its_functions_and_its_collectives(judge):
    program = program_of(judge, "step", "data=4", STEP_INPUTS, STEP)
    graph = graph_of(program)
    assert edges(graph) == {
        ("input state/w", "collective all-gather"),
        ("input x", "block loss_fn"),
        ("collective all-gather", "block loss_fn"),
        ("input x", "block loss_fn, backward"),
        ("block loss_fn", "block loss_fn, backward"),
        ("block loss_fn", "collective all-reduce, backward"),
        ("block loss_fn, backward", "collective all-reduce, backward"),
        ("collective all-reduce, backward", "block step"),
        ("input state/w", "block step"),
        ("block step", "output result/0/w"),
        ("collective all-reduce, backward", "output result/1"),
    }
    [gather] = [each for each in graph.nodes if each.name == "all-gather"]
    assert (gather.axes, gather.groups, gather.group_size, gather.bytes, gather.line) == (
        ("data",),
        1,
        4,
        64 * 64 * 4,
        9,
    )
    [row] = gather.collectives
    assert (program.collectives[row].collective, program.collectives[row].line) == ("all-gather", 9)
    [weights] = [each for each in graph.nodes if each.name == "state/w"]
    assert (weights.kind, weights.bytes, weights.spec) == ("input", 16 * 64 * 4, "P('data')")
    [forward] = [each for each in graph.nodes if each.name == "loss_fn" and not each.is_backward]
    assert (forward.products, forward.flops, forward.lines) == (1, 2 * 8 * 64 * 64, [10])


def test_a_loop_that_communicates_is_around_what_it_repeats(judge):
    graph = graph_of(program_of(judge, "ring", "data=4", 'x: float32[64, 32] P("data")', RING))
    [loop] = [number for number, each in enumerate(graph.nodes) if each.kind == "loop"]
    assert (graph.nodes[loop].executions, graph.nodes[loop].in_shard_map) == (3, True)
    inside = {each.name for each in graph.nodes if each.inside == loop}
    assert inside == {"collective-permute", "one"}
    # The block that arrives is sent on in the next round.
    [again] = [each for each in graph.edges if each.leads_back]
    assert graph.nodes[again.source].name == graph.nodes[again.target].name == "collective-permute"
    assert (again.bytes, again.shape) == (16 * 32 * 4, "f32[16,32]")


def test_layers_that_a_program_repeats_are_shown_once(judge):
    inputs = f'{LAYERS_INPUTS}\nx: float32[32, 64] P("data")'
    graph = graph_of(program_of(judge, "step", "data=2, model=4", inputs, LAYERS))
    assert graph.is_folded
    assert len(graph.nodes) <= 44
    assert len(graph.model_dump_json()) < 20_000
    attention = [each for each in graph.nodes if each.name == "attention"]
    # Nothing needs the gradient of the input.
    assert [(each.is_backward, each.products) for each in attention] == [(False, 24), (True, 47)]
    assert {"params", "mu", "nu"} <= {each.name for each in graph.nodes if each.kind == "input"}


def test_a_program_that_computes_nothing_passes_its_inputs_on(judge):
    graph = graph_of(program_of(judge, "f", "data=2", 'x: float32[8] P("data")', "def f(x):\n    return x\n"))
    assert edges(graph) == {("input x", "output result")}
