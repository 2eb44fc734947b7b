"""The options of XLA: their defaults are the compiler's, and those that a source or a person sets are honoured."""

import json
import os
import subprocess
import sys

import pytest

from grader.core.errors import SubmissionFault
from grader.core.xla_options import OPTIONS
from grader.inputs.explored_function import read_function
from tests.grader.on_chips import on_chip
from tests.import_closure import CHECKOUT

pytestmark = pytest.mark.xdist_group("gpu")

THRESHOLD = "xla_gpu_all_gather_combine_threshold_bytes"
INPUTS = "\n".join(f'ws/{number}: float32[1024, 1024] P("data")' for number in range(3)) + (
    '\nx: float32[8192, 1024] P("data")'
)
LAYERS = """
import jax
import jax.numpy as jnp
from jax.sharding import PartitionSpec as P


def f(mesh, ws, x):
    def local(ws, x):
        for w in ws:
            x = jnp.tanh(x @ jax.lax.all_gather(w, "data", tiled=True))
        return x

    return jax.shard_map(local, mesh=mesh, in_specs=(P("data"), P("data")), out_specs=P("data"))(ws, x)
"""
IN_FILE = f'import os\nos.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --{THRESHOLD}=0"\n'
MIB = 1 << 20
# Compiles a step with nothing, with each option set to its default, and with each set to something else. Prints the
# program's text, and the options of which XLA says that they differ from its defaults. Then compiles a loop with
# options that pipeline it.
EACH_DEFAULT = """
import json, re, tempfile
from pathlib import Path
import jax
from grader.core.chips import CHIPS
from grader.core.xla_options import OPTIONS, for_compiler
from grader.verifier.chip import devices_of, find_compiler
from tests.grader.program.scheduled_programs import _mesh, _programs, lowered_for

find_compiler("gpu")
chips = devices_of(CHIPS["h100"], "h100:8", (8,))
programs = _programs(_mesh({"fsdp": 8}))

def compiled(options, name="gathered_ahead"):
    lowered = lowered_for(*programs[name], chips, "gpu")
    with tempfile.TemporaryDirectory() as folder:
        given = {"xla_dump_to": folder, "xla_dump_hlo_as_text": True, **options}
        try:
            lowered.compile(compiler_options=given)
        except jax.errors.JaxRuntimeError:
            pass  # machine code would need NVIDIA's assembler
        [text] = Path(folder).glob("*gpu_after_optimizations.txt")
        [differs] = Path(folder).glob("*debug_options")
        names = re.findall(r"^\\w+", differs.read_text(), re.MULTILINE)
        return {"text": text.read_text(), "differs": sorted({*names} & {*OPTIONS})}

def other(option):
    if option.choices:
        return option.choices[0]
    return str(int(option.default) // 2 + 2) if option.most else str(option.default == "false").lower()

defaults = {each.name: each.default for each in OPTIONS.values()}
others = {each.name: other(each) for each in OPTIONS.values()}
loops = [{}, {"xla_gpu_enable_pipelined_collectives": True}, {"xla_gpu_enable_pipelined_all_gather": True}]
print(json.dumps({
    "options": [compiled(for_compiler(each)) for each in ({}, defaults, others)],
    "loops": [compiled(each, "layers_in_a_loop")["text"] for each in loops],
}))
"""


def gathers(program) -> list[int]:
    return [each.bytes for part in program.computations for each in part.collectives if each.collective == "all-gather"]


def refusal(judge, source: str, **options) -> SubmissionFault:
    with pytest.raises(SubmissionFault) as refused:
        judge.inspect_function(read_function("f", "data=8", INPUTS), source, chip="h100", **options)
    return refused.value


def test_an_option_in_the_environment_is_honoured(judge):
    alone = on_chip(judge, "h100", LAYERS, inputs=INPUTS)
    assert (sorted(gathers(alone)), alone.options) == ([12 * MIB], [])
    program = on_chip(judge, "h100", IN_FILE + LAYERS, inputs=INPUTS)
    assert sorted(gathers(program)) == [4 * MIB] * 3
    assert [(each.name, each.value, each.line) for each in program.options] == [(THRESHOLD, "0", 2)]


@pytest.fixture(scope="module")
def by_hand():
    environment = os.environ | {
        "PYTHONPATH": str(CHECKOUT),
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
    }
    ran = subprocess.run(
        [sys.executable, "-c", EACH_DEFAULT], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(ran.stdout.splitlines()[-1])


def test_each_default_is_that_of_the_compiler(by_hand):
    nothing, defaults, others = by_hand["options"]
    assert nothing["text"] == defaults["text"]
    assert (nothing["differs"], defaults["differs"]) == ([], [])
    assert others["differs"] == sorted(OPTIONS)


def test_collectives_are_pipelined_by_the_option_of_their_kind(by_hand):
    plain, collectives, all_gather = by_hand["loops"]
    assert collectives == plain
    assert all_gather != plain


def test_an_option_that_is_not_taken_is_refused_with_its_line(judge):
    fault = refusal(judge, IN_FILE.replace("combine_threshold", "combining_threshold") + LAYERS)
    assert fault.detail["line"] == 2
    assert str(fault).startswith("Line 2 sets an option of XLA. 'xla_gpu_all_gather_combining_threshold_bytes' is not")


def test_a_chosen_option_counts_more_than_one_of_the_source(judge):
    function = read_function("f", "data=8", INPUTS)
    chosen = {THRESHOLD: OPTIONS[THRESHOLD].default}
    [program] = judge.inspect_function(function, IN_FILE + LAYERS, chip="h100", options=chosen)
    assert program.on_chip is not None
    assert [(each.value, each.line) for each in program.on_chip.options] == [(OPTIONS[THRESHOLD].default, 0)]
    [part] = program.on_chip.program.schedule.computations
    assert [len(each.dtypes) for each in part.collectives] == [3]


def test_an_option_of_a_jit_is_honoured(judge):
    """The value is an int, and the jit is around what the function calls."""
    of_jit = (
        f'\nstep = jax.jit(f, static_argnums=0, compiler_options={{"{THRESHOLD}": 0}})\n'
        "def g(mesh, ws, x):\n    return step(mesh, ws, x)\n"
    )
    [program] = judge.inspect_function(read_function("g", "data=8", INPUTS), LAYERS + of_jit, chip="h100")
    assert program.on_chip is not None
    assert [(each.name, each.value, each.line) for each in program.on_chip.options] == [(THRESHOLD, "0", 15)]
    [part] = program.on_chip.program.schedule.computations
    assert [len(each.dtypes) for each in part.collectives] == [1, 1, 1]


def test_an_option_of_a_jit_that_is_not_taken_is_refused_with_its_line(judge):
    of_jit = LAYERS.replace(
        "\ndef f", '\n@partial(jax.jit, static_argnums=0, compiler_options={"xla_gpu_no_such": 1})\ndef f'
    )
    fault = refusal(judge, "from functools import partial\n" + of_jit)
    assert fault.detail["line"] == 8
    assert "'xla_gpu_no_such' is not among the XLA options" in str(fault)
