"""A convolution and its gradients take as many FLOPs on a GPU as on the host, and as many as there are products."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.xdist_group("gpu")
ROOT = Path(__file__).parents[2]

Case: TypeAlias = dict[str, Any]
Counted: TypeAlias = Callable[[Case], dict[str, list[int]]]


@pytest.fixture(scope="module")
def counted() -> Iterator[Counted]:
    """Compiles a convolution in a process that loads the compilers once."""
    command = [sys.executable, "-m", "tests.gpu.compiled_convolutions"]
    environment = os.environ | {"JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "3"}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        sent, answers = process.stdin, process.stdout
        assert sent is not None
        assert answers is not None

        def count(case: Case) -> dict[str, list[int]]:
            print(json.dumps(case), file=sent, flush=True)
            answer: dict[str, list[int]] = json.loads(answers.readline())
            return answer

        yield count
        sent.close()
    assert process.returncode == 0


@st.composite
def convolutions(draw: st.DrawFn) -> Case:
    """Small ones, with several images and features: what has one of them may be computed without a convolution."""
    rank = draw(st.integers(1, 2))

    def numbers(least: int, most: int) -> list[int]:
        return [draw(st.integers(least, most)) for _ in range(rank)]

    groups, inputs, outputs, batch = (draw(st.integers(*each)) for each in ((1, 2), (2, 3), (2, 4), (2, 3)))
    sizes, taps = numbers(4, 10), numbers(1, 4)
    channels_last = draw(st.booleans())
    spatial = "HW"[:rank]
    features = groups * inputs
    return {
        "image": [batch, *sizes, features] if channels_last else [batch, features, *sizes],
        "kernel": [*taps, inputs, groups * outputs] if channels_last else [groups * outputs, inputs, *taps],
        "dimensions": [f"N{spatial}C", f"{spatial}IO", f"N{spatial}C"]
        if channels_last
        else [f"NC{spatial}", f"OI{spatial}", f"NC{spatial}"],
        "strides": numbers(1, 3),
        "padding": [[draw(st.integers(-1, 3)), draw(st.integers(-1, 3))] for _ in range(rank)],
        "lhs_dilate": numbers(1, 2),
        "rhs_dilate": numbers(1, 2),
        "groups": groups,
        "dtype": draw(st.sampled_from(["float32", "bfloat16", "float16"])),
    }


def flops(case: Case) -> int:
    """Two for each element of the image that a tap of the kernel meets, from a list of all of them."""
    spatial = [case["dimensions"][0].index(name) for name in "HW"[: len(case["strides"])]]
    met = []
    for dim, at in enumerate(spatial):
        lhs, rhs, (low, high) = case["lhs_dilate"][dim], case["rhs_dilate"][dim], case["padding"][dim]
        size = case["image"][at]
        taps = range(0, case["kernel"][case["dimensions"][1].index("HW"[dim])] * rhs, rhs)
        last = (size - 1) * lhs + high - taps[-1]
        starts = range(-low, last + 1, case["strides"][dim])
        met.append(sum(start + tap in range(0, size * lhs, lhs) for start in starts for tap in taps))
    inputs, outputs = (case["kernel"][case["dimensions"][1].index(name)] for name in "IO")
    return 2 * prod(met) * case["image"][0] * inputs * outputs


@settings(max_examples=25)
@given(case=convolutions().filter(lambda case: flops(case) > 0))
def test_gradients_of_a_convolution_take_as_many_flops_as_it(counted: Counted, case: Case) -> None:
    expected = flops(case)
    assert counted(case) == {name: [expected, expected] for name in ("output", "input", "kernel")}


DEPTHWISE: Case = {
    "image": [4, 16, 16, 8],
    "kernel": [3, 3, 1, 8],
    "dimensions": ["NHWC", "HWIO", "NHWC"],
    "strides": [2, 2],
    "padding": [[0, 1], [0, 1]],
    "lhs_dilate": [1, 1],
    "rhs_dilate": [1, 1],
    "groups": 8,
    "dtype": "float32",
}


def test_the_gradient_of_a_depthwise_kernel_takes_more_on_a_host_alone(counted: Counted) -> None:
    """XLA for CPUs computes it for each pair of features, and takes the diagonal."""
    expected = flops(DEPTHWISE)
    assert counted(DEPTHWISE) == {
        "output": [expected, expected],
        "input": [expected, expected],
        "kernel": [8 * expected, expected],
    }
