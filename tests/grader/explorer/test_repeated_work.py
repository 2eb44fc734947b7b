"""Costly operations that XLA cannot divide are pointed out."""

import pytest

from grader.explorer.description import explored
from grader.explorer.remarks import remarks
from grader.inputs.explored_function import read_function

pytestmark = pytest.mark.xdist_group("explored functions")
TRANSFORM = "import jax.numpy as jnp\n\ndef f(x):\n    return jnp.fft.fft(x)\n"
BY_HAND = """
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P

def f(mesh, x):
    return jax.shard_map(jnp.fft.fft, mesh=mesh, in_specs=P("d"), out_specs=P("d"))(x)
"""


def remarks_of(judge, source: str, mesh: str = "d=8") -> list[str]:
    function = read_function("f", mesh, 'x: float32[64, 128] P("d")')
    [program] = explored(judge.inspect_function(function, source)).programs
    return program.remarks


def test_a_transform_of_all_rows_on_each_device_is_pointed_out(judge):
    assert remarks_of(judge, TRANSFORM) == [
        "On line 4, each of 8 devices computes the whole fft of complex64[64, 128]: XLA could not divide it. Use "
        "`jax.shard_map` to give each device its part."
    ]


def test_real_rows_that_become_complex_are_not_said_to_be_widened(judge):
    function = read_function("f", "d=8", 'x: float32[64, 128] P("d")')
    [program] = explored(judge.inspect_function(function, TRANSFORM)).programs
    assert [each.collective for each in program.collectives] == ["all-gather"]
    assert remarks(program.collectives) == [""]


@pytest.mark.parametrize("mesh", ["d=8", "d=1"])
def test_divided_work_is_not(judge, mesh):
    assert remarks_of(judge, BY_HAND, mesh) == []
    assert remarks_of(judge, "import jax.numpy as jnp\n\ndef f(x):\n    return jnp.sort(x, axis=1)\n", mesh) == []


STEP = """
import jax
import jax.numpy as jnp

def f(w, v, x):
    def loss(w, v):
        h = jnp.tanh(x @ w)
        return jnp.mean((h @ v) ** 2)
    return jax.grad(loss, argnums=(0, 1))(w, v)
"""
NOT_SPLIT = "a matrix product, because nothing splits it along"


@pytest.mark.parametrize(
    ("w", "v", "x", "said"),
    [
        # Only the second layer is split along model.
        (
            "",
            'P(None, "model")',
            'P("data")',
            [f"On line 7, 2 devices each compute the same part of {NOT_SPLIT} `model`."],
        ),
        ('P(None, "model")', 'P("model")', 'P("data")', []),
        (
            "",
            "",
            "",
            [
                f"On line {line}, each of 8 devices computes {NOT_SPLIT.replace('a ', 'a whole ')} `data` and `model`."
                for line in (8, 7)
            ],
        ),
    ],
    ids=["half", "split", "whole"],
)
def test_products_of_which_several_devices_compute_the_same_part(judge, w, v, x, said):
    inputs = f"w: float32[128, 256] {w}\nv: float32[256, 512] {v}\nx: float32[64, 128] {x}"
    [program] = explored(judge.inspect_function(read_function("f", "data=4, model=2", inputs), STEP)).programs
    assert [each for each in program.remarks if "product" in each] == said


def test_a_little_repeated_product_is_not_worth_a_sentence(judge):
    source = "def f(w, v, x):\n    h = x @ w\n    return h @ v\n"
    inputs = 'w: float32[128, 8]\nv: float32[8, 512] P(None, "model")\nx: float32[64, 128] P("data")'
    [program] = explored(judge.inspect_function(read_function("f", "data=4, model=2", inputs), source)).programs
    assert [each[:10] for each in program.remarks] == ["On line 2,"]
    inputs = inputs.replace("[8, 512]", "[8, 65536]")
    [program] = explored(judge.inspect_function(read_function("f", "data=4, model=2", inputs), source)).programs
    assert program.remarks == []


@pytest.mark.parametrize(
    ("line", "halo"),
    [
        (
            'jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))',
            "convolution",
        ),
        ('jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 1, 1, 1), "SAME")', "reduce_window"),
        ("jnp.roll(x, 1, 1)", None),
    ],
    ids=["convolution", "pooling", "roll"],
)
def test_the_permutes_of_a_halo_are_named(judge, line, halo):
    source = f"import jax\nimport jax.numpy as jnp\n\ndef f(w, x):\n    return {line} + 0 * w.sum()\n"
    inputs = 'w: float32[3, 3, 8, 8]\nx: float32[4, 32, 32, 8] P("data", "space")'
    [program] = explored(judge.inspect_function(read_function("f", "data=2, space=4", inputs), source)).programs
    permutes = [each for each in program.collectives if each.collective == "collective-permute"]
    assert permutes
    assert {each.halo_of for each in permutes} == {halo}
    said = {"convolution": "halo of a convolution", "reduce_window": "halo of a window", None: ""}[halo]
    assert all(said in each for each in remarks(permutes))
