"""The programs of docs/bring_your_own.md compute what they say: run on 8 devices, they agree with plain JAX."""

import pytest

from grader.judging.judge import Judge
from tests.grader.explorer.own_programs import explorations

# Together with the other functions, so that they share a sandbox.
pytestmark = pytest.mark.xdist_group("explored functions")

TOOLS = """
import jax
import jax.numpy as jnp
import numpy as np

rng = np.random.default_rng(0)

def normal(*shape):
    return jnp.asarray(rng.standard_normal(shape) / shape[-1] ** 0.5, jnp.float32)

def mesh_of(**axes):
    return jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=(jax.sharding.AxisType.Auto,) * len(axes))

def compare(got, expected):
    got, expected = jax.tree.leaves(got), jax.tree.leaves(expected)
    assert len(got) == len(expected)
    print(max(float(abs(one - other).max() / abs(other).max()) for one, other in zip(got, expected)))

def on(mesh, function):
    return jax.jit(lambda *inputs: function(mesh, *inputs))

def compare_steps(step, loss_of, params, rate):
    after, loss = step
    # Not the parameters themselves, beside which a wrong gradient is small. The difference has lost most of its digits.
    grads = jax.tree.map(lambda old, new: (old - new) / rate, params, after)
    compare((grads, loss), jax.value_and_grad(loss_of)(params)[::-1])
"""
ATTENTION = "q, k, v = normal(2, 64, 8, 16), normal(2, 64, 8, 16), normal(2, 64, 8, 16)"
CHECKS = {
    "nnx_train_step.py": """
state = {"up": {"kernel": normal(32, 64)}, "down": {"kernel": normal(64, 32)}}
x, y = normal(16, 32), normal(16, 32)

def loss_of(state):
    return ((jax.nn.relu(x @ state["up"]["kernel"]) @ state["down"]["kernel"] - y) ** 2).mean()

compare_steps(jax.jit(train_step)(state, x, y), loss_of, state, 1e-2)
""",
    "pipeline.py": """
weights, microbatches = normal(4, 32, 32), normal(16, 8, 32)
expected = microbatches
for w in weights:
    expected = jax.nn.gelu(expected @ w)
compare(on(mesh_of(stage=4, data=2), pipeline)(weights, microbatches), expected)
""",
    "contraction.py": """
a, b = normal(16, 32), normal(32, 16)
compare(on(mesh_of(X=4), matmul)(a, b), a @ b)
""",
    "ring_attention.py": f"""
{ATTENTION}
compare(on(mesh_of(context=8), ring_attention)(q, k, v), jax.nn.dot_product_attention(q, k, v))
""",
    "moe.py": """
x, router, up, down = normal(128, 32), normal(32, 16) / 8, normal(16, 32, 64), normal(16, 64, 32)
gates = jax.nn.softmax(x @ router)
picked, kept = np.asarray(gates.argmax(-1)), np.zeros(128)
for start in range(0, 128, 16):
    used = np.zeros(16)
    for token in range(start, start + 16):
        kept[token] = used[picked[token]] < 2
        used[picked[token]] += 1
assert 64 < kept.sum() < 128
hidden = jax.nn.gelu(jnp.einsum("td,tdf->tf", x, up[picked]))
expected = jnp.einsum("tf,tfd->td", hidden, down[picked]) * gates.max(-1, keepdims=True) * kept[:, None]
compare(on(mesh_of(expert=8), moe)(x, router, up, down), expected)
""",
    "ulysses.py": f"""
{ATTENTION}
compare(on(mesh_of(context=8), ulysses)(q, k, v), jax.nn.dot_product_attention(q, k, v, is_causal=True))
""",
    "vocab_cross_entropy.py": """
import optax

hidden, unembed, labels = normal(64, 16), normal(16, 128), jnp.asarray(rng.integers(0, 128, 64), jnp.int32)

def loss_of(hidden, unembed):
    return optax.softmax_cross_entropy_with_integer_labels(hidden @ unembed, labels).mean()

expected = jax.value_and_grad(loss_of, argnums=(0, 1))(hidden, unembed)
compare(on(mesh_of(data=2, model=4), loss_and_grads)(hidden, unembed, labels), expected)
""",
    "collective_matmul.py": """
x, w = normal(16, 32), normal(32, 16)
compare(on(mesh_of(model=4), gather_and_multiply)(x, w), x @ w)
""",
    "llama_step.py": """
layers = {"qkv": normal(2, 16, 3, 4, 8), "out": normal(2, 4, 8, 16), "gate_up": normal(2, 16, 2, 32)}
params = {"embed": normal(64, 16), "layers": layers | {"down": normal(2, 32, 16)}}
tokens = jnp.asarray(rng.integers(0, 64, (8, 16)), jnp.int32)

def norm(x):
    return x / jnp.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)

def loss_of(params):
    x = params["embed"][tokens]
    for number in range(2):
        w = jax.tree.map(lambda leaf: leaf[number], params["layers"])
        q, k, v = (jnp.einsum("btd,dhk->bthk", norm(x), w["qkv"][:, each]) for each in range(3))
        x += jnp.einsum("bthk,hkd->btd", jax.nn.dot_product_attention(q, k, v, is_causal=True), w["out"])
        gate, up = (norm(x) @ w["gate_up"][:, each] for each in range(2))
        x += (jax.nn.silu(gate) * up) @ w["down"]
    scores = jax.nn.log_softmax(norm(x) @ params["embed"].T)[:, :-1]
    return -jnp.take_along_axis(scores, tokens[:, 1:, None], axis=-1).mean()

compare_steps(on(mesh_of(fsdp=4, tensor=2), train_step)(params, tokens), loss_of, params, 1e-3)
""",
    "accumulate.py": """
params, x, y = {"up": normal(32, 64), "down": normal(64, 32)}, normal(128, 32), normal(128, 32)

def loss_of(params):
    return ((jax.nn.relu(x @ params["up"]) @ params["down"] - y) ** 2).mean()

compare_steps(on(mesh_of(data=8), train_step)(params, x, y), loss_of, params, 1e-2)
""",
}


@pytest.mark.parametrize("file", CHECKS)
def test_the_values_are_those_of_plain_jax(judge: Judge, file: str) -> None:
    source = {each.file: each.source for each in explorations()}[file]
    printed = judge.run_script(source + TOOLS + CHECKS[file])
    assert printed.fault is None
    assert float(printed.stdout) < (2e-2 if "compare_steps" in CHECKS[file] else 1e-5)


def test_each_program_is_run() -> None:
    assert {each.file for each in explorations()} == set(CHECKS)
