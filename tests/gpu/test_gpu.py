"""Programs compiled for GPUs behind the walls, by XLA's plugin for CUDA and without a GPU."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from grader.core.chips import CHIPS, compiler_of
from grader.core.errors import SubmissionFault
from grader.explorer.description import explored
from grader.inputs.explored_function import read_function
from grader.package.package import Limits
from grader.review.reader import read_package
from grader.sandbox.protocol import RunnerSpec
from tests.grader.on_chips import on_chip
from tests.grader.program.scheduled_programs import COMPILERS, FOLDERS
from tests.grader.program.test_gpu_schedule import schedule_in, schedule_of
from tests.grader.shipped_submissions import PROBLEMS

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.xdist_group("gpu")
GPUS = [chip.name for chip in CHIPS.values() if chip.platform == "gpu"]
FSDP = sorted(
    each.parent.name for each in PROBLEMS.glob("*fsdp*/problem.toml") if 'mode = "program"' in each.read_text()
)


def test_the_schedules_that_the_other_tests_read_are_what_it_prints():
    assert compiler_of("gpu") == COMPILERS["gpu"]
    script = "import json, tests.grader.program.scheduled_programs as it; print(json.dumps(it.compile_all('gpu')))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    texts = json.loads(done.stdout.splitlines()[-1])
    assert {f"{name}.txt" for name in texts} == {path.name for path in FOLDERS["gpu"].iterdir()}
    for name, text in texts.items():
        assert schedule_in(text, name) == schedule_of(name)


@pytest.mark.parametrize("chip", GPUS)
def test_a_function_is_compiled_for_each_gpu(judge, chip):
    gpu = on_chip(judge, chip)
    assert (gpu.fault, gpu.topology, gpu.compiler) == (None, f"{chip}:8", compiler_of("gpu"))
    assert gpu.flops == 2 * 128 * 1024 * 1024
    assert 0 < gpu.argument_bytes <= gpu.peak_bytes < gpu.hbm_bytes == CHIPS[chip].hbm_bytes


@pytest.mark.parametrize("devices", CHIPS["h100"].shapes)
def test_every_slice_that_is_offered_can_be_compiled_for(judge, devices):
    gpu = on_chip(judge, "h100", mesh=f"data={devices}")
    assert gpu.fault is None
    assert gpu.topology == CHIPS["h100"].topology(devices)
    [gather] = [each for part in gpu.computations for each in part.collectives]
    assert (gather.collective, gather.group_size) == ("all-gather", devices)
    assert gather.link == ("NVLink" if devices <= 8 else "InfiniBand")


def test_weights_within_a_host_cross_nvlink_and_gradients_between_hosts_infiniband(judge):
    source = (
        "import jax\n"
        "from jax.sharding import PartitionSpec as P\n\n"
        "def f(x, w):\n"
        "    def loss(w):\n"
        "        return (x @ jax.lax.with_sharding_constraint(w, P()) ** 2).sum()\n"
        "    return jax.lax.with_sharding_constraint(jax.grad(loss)(w), P('fsdp'))\n"
    )
    inputs = 'x: float32[4096, 1024] P(("data", "fsdp"))\nw: float32[1024, 1024] P("fsdp")'
    gpu = on_chip(judge, "h100", source, "data=2, fsdp=8", inputs)
    links = {(each.collective, each.axes): each.link for part in gpu.computations for each in part.collectives}
    assert links["all-gather", ("fsdp",)] == "NVLink"
    assert {link for (_, axes), link in links.items() if axes and "data" in axes} == {"InfiniBand"}


@pytest.mark.parametrize("slug", FSDP)
def test_the_reference_of_every_fsdp_problem_has_a_program_for_gpus(judge, slug):
    package = read_package(PROBLEMS / slug)
    for each in judge.inspect(package, package.reference, chip="h100"):
        if CHIPS["h100"].topology(each.facts.devices) is None:
            # Such as a mesh of 2 by 3 devices.
            assert "slices here have" in each.on_chip.fault
            continue
        assert each.on_chip.program is not None, each.on_chip.fault
        # A product may be split or merged, but the work stays.
        assert each.on_chip.program.flops == pytest.approx(each.facts.census.dot_flops, rel=0.05)


def test_what_takes_more_memory_than_a_gpu_has_is_known(judge):
    source = "import jax.numpy as jnp\n\ndef f(x, w):\n    return jnp.sort(x @ w, axis=0)\n"
    gpu = on_chip(judge, "h100", source, inputs="x: float32[131072, 65536]\nw: float32[65536, 131072]")
    assert gpu.peak_bytes > gpu.hbm_bytes


def test_what_the_authors_jit_donates_is_overwritten_in_place(judge):
    source = (
        "import jax\nimport jax.numpy as jnp\n\n"
        "def step(x):\n"
        "    y = jnp.exp(x)\n"
        "    return y * jax.lax.fori_loop(0, 8, lambda i, s: s + jnp.sum(y * i), jnp.float32(0))\n\n"
    )
    part = 8388608 * 4 // 8
    inputs = 'x: float32[8388608] P("data")'
    donating = on_chip(judge, "h100", source + "f = jax.jit(step, donate_argnums=0)\n", inputs=inputs)
    keeping = on_chip(judge, "h100", source + "f = jax.jit(step)\n", inputs=inputs)
    assert (donating.alias_bytes, keeping.alias_bytes) == (part, 0)
    assert keeping.peak_bytes - donating.peak_bytes == part


def test_a_branch_of_a_cond_is_marked(judge):
    source = """
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def f(mesh, flag, x):
    def local(flag, x):
        def body(i, x):
            return jax.lax.cond(flag > i, lambda x: jax.lax.psum(x, "data") * 0.1, lambda x: x * 2, x)

        return jax.lax.fori_loop(0, 4, body, x) + jax.lax.psum(x, "data")

    return jax.shard_map(local, mesh=mesh, in_specs=(P(), P("data")), out_specs=P("data"), check_vma=False)(flag, x)
"""
    gpu = on_chip(judge, "h100", source, inputs='flag: int32[]\nx: float32[1024] P("data")')
    found = [(each.conditional, each.executions) for each in gpu.computations for _ in each.collectives]
    assert sorted(found) == [(False, 1), (True, 4)]


HEAD = "import jax\nimport jax.numpy as jnp\nfrom jax import lax\n\n\n"
HUGE = {
    "unrolled": "def f(x, w):\n    for _ in range(600):\n        x = jnp.tanh(x @ w)\n    return x\n",
    "nested loops": """
def f(x, w):
    def at(n, x):
        return lax.fori_loop(0, 2**30, lambda _, y: at(n - 1, y), x) if n else jnp.tanh(x @ w)
    return at(12, x)
""",
    "terabytes": """
def f(x, w):
    return jnp.sort(jnp.broadcast_to(x[:1, :1], (2**20, 2**20)), axis=0)[:8, :8] + x[:8, :8]
""",
    "folded by the compiler": """
def f(x, w):
    return x + jnp.sort(jnp.flip(lax.iota(jnp.float32, 2**27)))[: x.shape[1]]
""",
    "doubled": """
def f(x, w):
    y = x[:1, :8]
    for _ in range(26):
        y = jnp.concatenate([y, y + 1.0])
    return y.sum() + x
""",
    "many operations": """
def f(x, w):
    return x + sum(jnp.sum(jnp.cumsum(x * i, axis=i % 2)) for i in range(300))
""",
}


@pytest.mark.parametrize("source", HUGE.values(), ids=HUGE)
def test_a_huge_program_is_read_within_the_limits(judge, source):
    gpu = on_chip(judge, "h100", HEAD + source)
    assert gpu.fault is None
    assert gpu.peak_bytes > 0


RAGGED = """
def f(mesh, x):
    def local(x):
        each = jnp.ones((mesh.size,), jnp.int32)
        me = lax.axis_index("data") * each
        return lax.ragged_all_to_all(x, jnp.zeros_like(x), jnp.cumsum(each) - each, each, me, each, axis_name="data")
    return jax.shard_map(local, mesh=mesh, in_specs=jax.P("data"), out_specs=jax.P("data"))(x)
"""


def test_what_only_chips_have_is_measured_on_them(judge):
    function = read_function("f", "data=8", 'x: float32[64, 32] P("data")')
    [measured] = judge.inspect_function(function, HEAD + RAGGED, chip="h100")
    assert measured.is_only_on_chip
    [program] = explored([measured]).programs
    assert [(each.collective, each.axes) for each in program.collectives] == [("ragged-all-to-all", ("data",))]
    assert [(leaf.when, leaf.got_spec) for leaf in program.leaves.leaves] == [("in", "P('data')"), ("out", "P('data')")]
    assert program.memory.rows[0].mine == 8 * 32 * 4
    [part] = program.on_chip.computations
    assert [(each.collective, each.link) for each in part.collectives] == [("ragged-all-to-all", "NVLink")]
    assert (program.is_only_on_chip, program.on_chip.differences) == (True, [])


def test_a_mesh_that_no_slice_has_is_not_checked(judge):
    gpu = on_chip(judge, "h100", mesh="data=3", inputs="x: float32[9, 9]\nw: float32[9, 9]")
    assert gpu.fault == "Not checked: slices here have 2, 4, 8, 16, 32, 64, 128 or 256 chips, not 3."


def test_a_forged_artifact_is_refused(sandbox):
    inputs = [{"shape": [8], "dtype": "float32"}]
    with sandbox.open(RunnerSpec(1, Limits(), program="gpu")) as session:
        for forged in (b"", b"\0" * 4096, b"not a program"):
            with pytest.raises(SubmissionFault, match="cannot be read"):
                session.compile_for("h100:8", {"data": 8}, np.frombuffer(forged, np.uint8), inputs, state=0, options={})


def test_a_damaged_artifact_ends_in_a_program_or_a_refusal(judge, sandbox):
    """Bytes are changed where a program's text, its shapes and its shardings are."""
    package = read_package(PROBLEMS / "fsdp_auto_step")
    [measured, *_] = judge.inspect(package, package.reference)
    artifact = measured.artifact
    whole = np.frombuffer(bytes(artifact.program), np.uint8)
    random = np.random.default_rng(8)
    ends = []
    for _ in range(40):
        damaged = whole.copy()
        at = random.integers(0, len(whole), 3)
        damaged[at] = random.integers(0, 256, 3)
        with sandbox.open(RunnerSpec(1, Limits(time_s=60, wall_s=120), program="gpu")) as session:
            try:
                session.compile_for(
                    "h100:8", measured.mesh, damaged, list(artifact.inputs), state=artifact.state, options={}
                )
                ends.append("program")
            except SubmissionFault as fault:
                ends.append(fault.reason)
    assert set(ends) <= {"program", "not_exportable", "error"}, ends
