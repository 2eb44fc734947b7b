"""What JAX writes differently for GPUs is in the program that the lens compiles: the second export, for CUDA."""

import pytest

from tests.grader.on_chips import on_chip

pytestmark = pytest.mark.xdist_group("gpu")

OFFLOADED = """
import jax
import jax.numpy as jnp
from jax.ad_checkpoint import checkpoint_name

policy = jax.checkpoint_policies.save_and_offload_only_these_names(
    names_which_can_be_saved=[], names_which_can_be_offloaded=["h"], offload_src="device", offload_dst="pinned_host"
)


def f(w, x):
    def block(h, w):
        return jnp.tanh(checkpoint_name(h, "h") @ w), None

    def loss(w):
        h, _ = jax.lax.scan(jax.checkpoint(block, policy=policy), x, w)
        return jnp.mean(h * h)

    return jax.grad(loss)(w)
"""
BRANCHES = """
import jax
from jax.sharding import PartitionSpec as P


def f(mesh, x):
    def local(x):
        return jax.lax.platform_dependent(
            x,
            cuda=lambda x: jax.lax.psum(x.sum(0), "data"),
            default=lambda x: jax.lax.all_gather(x, "data", tiled=True).sum(0),
        )

    return jax.shard_map(local, mesh=mesh, in_specs=P("data"), out_specs=P(), check_vma=False)(x)
"""
EIGENVALUES = "import jax\n\ndef f(x):\n    return jax.numpy.linalg.eigh(x + x.T)\n"


def test_offloaded_activations_are_in_the_memory_of_the_host(judge):
    inputs = 'w: float32[8, 128, 128]\nx: float32[1024, 128] P("data")'
    offloaded = on_chip(judge, "h100", OFFLOADED, inputs=inputs)
    kept = on_chip(
        judge, "h100", OFFLOADED.replace(', offload_dst="pinned_host"', ', offload_dst="device"'), inputs=inputs
    )
    # The activations of eight layers, 128 x 128 numbers each.
    assert (offloaded.host_bytes, kept.host_bytes) == (8 * 128 * 128 * 4, 0)
    assert offloaded.peak_bytes < kept.peak_bytes


def test_the_branch_for_gpus_is_the_one_that_is_compiled(judge):
    gpu = on_chip(judge, "h100", BRANCHES, inputs='x: float32[64, 128] P("data")')
    [part] = [each for each in gpu.computations if each.collectives]
    assert [(each.collective, each.bytes) for each in part.collectives] == [("all-reduce", 512)]
    assert gpu.differences == [
        "Only the CPU runs all-gather over data: once, 32 KiB.",
        "Only the H100 runs all-reduce over data: once, 512 B.",
    ]


def test_what_nvidias_library_computes_is_no_fault(judge):
    gpu = on_chip(judge, "h100", EIGENVALUES, inputs="x: float32[64, 64]")
    assert gpu.fault is None
    assert "eigh" in " ".join(step.name for part in gpu.computations for step in part.steps)


GRADIENTS = """
import jax
import jax.numpy as jnp


def loss(u, v, x):
    h = jnp.tanh(x @ u)
    y = h @ v
    return jnp.mean(y**2)


def f(u, v, x):
    value, (gu, gv) = jax.value_and_grad(loss, (0, 1))(u, v, x)
    return u - gu, v - gv, value
"""


def test_each_part_of_a_combined_all_reduce_has_its_line(judge):
    inputs = 'u: float32[512, 512]\nv: float32[512, 128]\nx: float32[1024, 512] P("data")'
    gpu = on_chip(judge, "h100", GRADIENTS, inputs=inputs)
    sent = [each for part in gpu.computations for each in part.collectives]
    assert {each.collective for each in sent} == {"all-reduce"}
    # Each gradient with its bytes, and the loss, whose 4 bytes are from the line of one of them or from its own.
    assert {each.line for each in sent} >= {7, 8}
    assert sum(each.bytes for each in sent) == 512 * 512 * 4 + 512 * 128 * 4 + 4
    assert max(sent, key=lambda each: each.bytes).line == 7


ACCUMULATED = """
import jax
import jax.numpy as jnp


def f(u, v, x):
    def loss(weights, x):
        h = jnp.tanh(x @ weights[0])
        return jnp.mean((h @ weights[1]) ** 2)

    def part(sums, x):
        return jax.tree.map(jnp.add, sums, jax.grad(loss)((u, v), x)), None

    return jax.lax.scan(part, (jnp.zeros_like(u), jnp.zeros_like(v)), x)[0]
"""


def test_gradients_that_a_loop_adds_up_have_the_lines_of_its_body(judge):
    """XLA reduces them once, after the loop, whose own line is that of all of them."""
    inputs = 'u: float32[512, 512]\nv: float32[512, 128]\nx: float32[4, 1024, 512] P(None, "data")'
    gpu = on_chip(judge, "h100", ACCUMULATED, inputs=inputs)
    sent = [(part.executions, each.line, each.bytes) for part in gpu.computations for each in part.collectives]
    assert sorted(sent) == [(1, 8, 512 * 512 * 4), (1, 9, 512 * 128 * 4)]
