"""Programs as their authors have them: a mesh of their own, options of `jax.jit`, a state, and static arguments."""

import pytest

from grader.core.errors import SubmissionFault
from grader.explorer.description import explored, fault_of
from grader.explorer.exploration import ExploredProgram
from grader.inputs.explored_function import read_function

pytestmark = pytest.mark.xdist_group("explored functions")

HEAD = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import jax
import jax.numpy as jnp
import numpy as np
from functools import partial
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P
"""
X = 'x: float32[64, 128] P("data")'
W = 'w: float32[128, 256] P(None, "model")'


def program_of(judge, source: str, mesh: str, *inputs: str, name: str = "f", init: str = "") -> ExploredProgram:
    [program] = explored(judge.inspect_function(read_function(name, mesh, "\n".join(inputs), init), source)).programs
    return program


def refusal_of(judge, source: str, mesh: str, *inputs: str) -> tuple[str, int | None]:
    with pytest.raises(SubmissionFault) as refused:
        judge.inspect_function(read_function("f", mesh, "\n".join(inputs)), source)
    fault = fault_of(refused.value, "source").fault
    assert fault is not None
    return fault.message, fault.line


def collectives(program: ExploredProgram) -> list[tuple[str, tuple[str, ...] | None, int, int | None]]:
    return [(each.collective, each.axes, each.bytes, each.line) for each in program.collectives]


def specs(program: ExploredProgram) -> dict[str, str]:
    return {leaf.path: leaf.got_spec for leaf in program.leaves.leaves}


def in_place(program: ExploredProgram) -> int:
    return next(each.mine for each in program.memory.rows if each.name == "overwritten in place")


CONTRACTED = """
@jax.jit
def f(x, w):
    y = jax.lax.with_sharding_constraint(x @ w, NamedSharding(mesh, P("data", "model")))
    return jnp.sum(y, -1)
"""
SUMMED = """
def f(x):
    return jax.shard_map(lambda x: jax.lax.psum(x, "data"), mesh=mesh, in_specs=P("data"), out_specs=P())(x)
"""
SETTINGS = """
jax.config.update("jax_num_cpu_devices", 8)
jax.config.update("jax_platforms", "cpu")
jax.distributed.initialize()
"""


def test_a_mesh_of_its_own_is_the_mesh(judge):
    """`jax.make_mesh` makes Explicit axes, and the source sets the mesh for everything that follows."""
    own = 'mesh = jax.make_mesh((4, 2), ("data", "model"))\njax.set_mesh(mesh)\n'
    program = program_of(judge, HEAD + SETTINGS + own + CONTRACTED, "data=4, model=2", X, W)
    assert collectives(program) == [("all-reduce", ("model",), 64, 19)]
    assert program.remarks == ["The axes data and model are Explicit, as in the mesh that line 13 makes."]


def test_a_mesh_of_all_devices_is_the_mesh(judge):
    own = 'mesh = Mesh(np.array(jax.devices()).reshape(8, 2), ("data", "model"))\nassert jax.device_count() == 16\n'
    program = program_of(judge, HEAD + own + CONTRACTED, "data=8, model=2", X, W)
    assert collectives(program) == [("all-reduce", ("model",), 32, 15)]
    assert program.remarks == []


def test_a_mesh_made_in_the_function_is_the_mesh(judge):
    source = HEAD + (
        "def f(x):\n"
        '    mesh = jax.make_mesh((4,), ("data",))\n'
        '    return jax.shard_map(lambda x: jax.lax.psum(x, "data"), mesh=mesh, in_specs=P("data"), out_specs=P())(x)\n'
    )
    program = program_of(judge, source, "data=4", X)
    assert collectives(program) == [("all-reduce", ("data",), 8192, 11)]
    assert program.remarks == ["The axis data is Explicit, as in the mesh that line 10 makes."]


@pytest.mark.parametrize("mesh", ["X=4!, Y=2!", "X=4, Y=2"])
def test_a_function_that_needs_explicit_axes_has_them(judge, mesh):
    source = HEAD + 'def f(a, b):\n    return jnp.einsum("bd,df->bf", a, b, out_sharding=P("X", "Y"))\n'
    program = program_of(judge, source, mesh, 'a: float32[8, 64] P("X", "Y")', 'b: float32[64, 128] P("Y", None)')
    assert [(kind, axes, line) for kind, axes, _, line in collectives(program)] == [("all-reduce", ("Y",), 10)]
    assert specs(program)["result"] == "P('X', 'Y')"
    assert program.remarks == (
        [] if "!" in mesh else ["The axes X and Y are Explicit, because the program needs that."]
    )


def test_some_axes_may_be_explicit_and_others_not(judge):
    source = HEAD + "def f(x):\n    return x * len([kind for kind in KINDS if kind == AxisType.Explicit])\n"
    source = source.replace("KINDS", "jax.sharding.get_abstract_mesh().axis_types")
    program = program_of(judge, source, "data=4!, model=2", 'x: float32[8] P("data")')
    assert specs(program) == {"x": "P('data')", "result": "P('data')"}


def test_pmap_runs_on_the_mesh_of_its_axis(judge):
    source = HEAD + 'f = jax.pmap(lambda x: jax.lax.psum(x, "i"), axis_name="i")\n'
    assert collectives(program_of(judge, source, "i=8", 'x: float32[8, 16] P("i")'))[0][:3] == (
        "all-reduce",
        ("i",),
        64,
    )
    message, _ = refusal_of(judge, source, "data=8", 'x: float32[8, 16] P("data")')
    assert "should match the mesh passed to shard_map Mesh('i': 8" in message


@pytest.mark.parametrize(
    ("own", "mesh", "message", "line"),
    [
        (
            'jax.config.update("jax_num_cpu_devices", 4)\nmesh = None\n',
            "data=8",
            "This asks for 4 CPU devices, and the mesh for which the program is compiled has 8. Remove this line",
            9,
        ),
        (
            "jax.distributed.initialize(num_processes=4)\nmesh = None\n",
            "data=8",
            "`jax.distributed.initialize` asks for 4 processes. Here one process has all devices of the mesh.",
            9,
        ),
        (
            'mesh = jax.make_mesh((8,), ("data",))\n',
            "data=4",
            "The mesh data=8 needs 8 devices, and there are 4, as many as the mesh for which the program is compiled",
            9,
        ),
        (
            'mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)\n',
            "data=4, model=2",
            "Line 9 makes the mesh data=2, model=4, but the program is compiled for data=4, model=2. Make the two",
            12,
        ),
        (
            'mesh = Mesh(np.array(jax.devices())[::-1].reshape(4, 2), ("data", "model"))\n',
            "data=4, model=2",
            "The mesh that line 9 makes has its devices in another order",
            9,
        ),
        (
            'mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)\n',
            "data=4!, model=2!",
            "The axes of the mesh that line 9 makes are data Auto, model Auto; those of the mesh for which the program "
            "is compiled are data Explicit, model Explicit.",
            12,
        ),
    ],
    ids=["fewer CPUs", "more processes", "too large", "other sizes", "other order", "other kinds"],
)
def test_a_mesh_that_does_not_fit_is_named_with_its_line(judge, own, mesh, message, line):
    found = refusal_of(judge, HEAD + own + SUMMED, mesh, X)
    assert message in found[0]
    assert found[1] == line


def test_a_constraint_on_another_mesh_is_pointed_out(judge):
    own = 'mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)\n'
    program = program_of(judge, HEAD + own + CONTRACTED, "data=4, model=2", X, W)
    assert program.remarks == [
        "Line 9 makes the mesh data=2, model=4. Everything here is named by the axes of data=4, model=2."
    ]


def test_the_options_of_the_authors_jit_count(judge):
    """Donation, static arguments, the shardings of inputs; and `params` is donated through a function around it."""
    source = HEAD + (
        'mesh = jax.make_mesh((8,), ("d",), axis_types=(AxisType.Auto,))\n'
        'placed = NamedSharding(mesh, P("d"))\n'
        'options = {"xla_cpu_enable_fast_math": True}\n'
        "@partial(jax.jit, donate_argnums=1, static_argnums=(2, 3), in_shardings=(None, placed), "
        "compiler_options=options)\n"
        "def step(x, params, n, mode):\n"
        '    for _ in range(n if mode == "train" else 0):\n'
        "        params = params - 0.1 * jnp.sum(x)\n"
        "    return params, jnp.sum(params)\n"
        "def f(x, params, *, n, mode):\n"
        "    return step(x, params, n, mode)\n"
    )
    inputs = ("x: float32[32]", "params: float32[8, 64]", "n = 3", "mode = 'train'")
    program = program_of(judge, source, "d=8", *inputs)
    assert list(specs(program).items())[:2] == [("params", "P('d')"), ("x", "P()")]
    assert in_place(program) == 256
    line = source.splitlines().index('options = {"xla_cpu_enable_fast_math": True}') + 1
    assert program.remarks == [
        f"Line {line} sets `xla_cpu_enable_fast_math`, which has no effect here. The program for host devices "
        "has the same options for everyone."
    ]
    message, _ = refusal_of(judge, source, "d=8", inputs[0], 'params: float32[8, 64] P(None, "d")', *inputs[2:])
    assert message.startswith("params is given as P(None, 'd'), but `in_shardings` of `f` says P('d')")


def test_the_donation_of_the_authors_jit_without_a_mesh_argument_counts(judge):
    source = HEAD + (
        "@partial(jax.jit, donate_argnums=0)\n"
        "def f(x):\n"
        "    y = jnp.exp(x)\n"
        "    return y * jax.lax.fori_loop(0, 8, lambda i, s: s + jnp.sum(y * i), jnp.float32(0))\n"
    )
    x = 'x: float32[8388608] P("data")'
    assert in_place(program_of(judge, source, "data=8", x)) == 8388608 * 4 // 8
    assert in_place(program_of(judge, source.replace("donate_argnums=0", "inline=True"), "data=8", x)) == 0


def test_a_donated_argument_that_is_used_again_is_not_donated(judge):
    source = HEAD + (
        "step = jax.jit(lambda x: x + 1, donate_argnums=0)\ndef f(x):\n    y = step(x)\n    return y * x\n"
    )
    assert in_place(program_of(judge, source, "d=8", 'x: float32[8, 64] P("d")')) == 0


NNX = (
    HEAD
    + """
import optax
from flax import nnx


def init(mesh, seed):
    model = nnx.Sequential(
        nnx.Linear(64, 256, rngs=nnx.Rngs(seed)),
        nnx.Dropout(0.1, rngs=nnx.Rngs(1)),
        nnx.Linear(256, 64, rngs=nnx.Rngs(2)),
    )
    params = nnx.state(model, nnx.Param)
    nnx.update(model, jax.device_put(params, NamedSharding(mesh, P("fsdp"))))
    return model, nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)


@nnx.jit(donate_argnums=(0, 1))
def f(model, optimizer, x, y):
    loss, grads = nnx.value_and_grad(lambda model: jnp.mean((model(x) - y) ** 2))(model)
    optimizer.update(model, grads)
    return loss
"""
)


def test_modules_and_optimizers_are_the_state(judge):
    rows = ('x: float32[32, 64] P("fsdp")', 'y: float32[32, 64] P("fsdp")')
    program = program_of(judge, NNX, "fsdp=8", *rows, init="init")
    given = {leaf.path: (leaf.dtype, leaf.got_spec) for leaf in program.leaves.leaves if leaf.when == "in"}
    assert given["model/layers/0/kernel"] == ("float32", "P('fsdp')")
    assert given["model/layers/1/rngs/key"] == ("key<fry>", "P()")
    assert given["optimizer/opt_state/0/mu/layers/0/kernel"] == ("float32", "P('fsdp')")
    returned = {leaf.path for leaf in program.leaves.leaves if leaf.when == "out"}
    assert returned == {*given, "result"} - {"x", "y"}
    # Three copies of 33,088 bytes on eight devices, two counters and a key with its counter.
    assert in_place(program) == 3 * 33_088 * 4 // 8 + 4 + 4 + 8 + 4
    assert program.remarks == []


def test_a_state_that_is_too_large_is_only_traced(judge):
    source = HEAD + (
        "def init(mesh, seed):\n"
        '    return {"w": jax.lax.with_sharding_constraint(jnp.zeros((65536, 65536)), NamedSharding(mesh, P("d")))}\n'
        'def f(state, x):\n    return {"w": state["w"] + x}\n'
    )
    program = program_of(judge, source, "d=8", "x: float32[]", init="init")
    assert specs(program) == {"state/w": "P('d')", "x": "P()", "result/w": "P('d')"}
    assert program.remarks == [
        "The state of `init` is too large to be made here. Its leaves are where `jax.jit(init)` would place them."
    ]


def test_leaves_of_any_dtype_enter(judge):
    source = HEAD + "def f(key, q):\n    return jax.random.split(key), q.astype(jnp.int8).sum()\n"
    program = program_of(judge, source, "d=8", "key: key<fry>[]", 'q: int4[8, 64] P("d")')
    amounts = {each.name: each.mine for each in program.memory.rows}
    assert amounts["arguments"] == 8 + 32
    assert [leaf.dtype for leaf in program.leaves.leaves] == ["key<fry>", "int4", "key<fry>", "int32"]


def test_hundreds_of_leaves_enter(judge):
    source = HEAD + "def f(params):\n    return {name: 0.9 * leaf for name, leaf in params.items()}\n"
    program = program_of(judge, source, "d=2", *(f"params/w{number:03}: float32[4]" for number in range(410)))
    assert (len(program.leaves.leaves) + program.unlisted_leaves, program.memory.rows[0].mine) == (820, 410 * 16)


def test_a_leaf_that_comes_back_elsewhere_is_pointed_out(judge):
    source = HEAD + (
        "def f(params, mu, x):\n"
        "    g = jax.grad(lambda p: jnp.mean(jnp.square(x @ p)))(params)\n"
        "    mu = 0.9 * mu + g\n"
        "    return params - 0.1 * mu, mu\n"
    )
    inputs = ("params: float32[64, 256]", 'mu: float32[64, 256] P("x", "y")', 'x: float32[32, 64] P("x")')
    assert program_of(judge, source, "x=2, y=4", *inputs).remarks == [
        "params goes in as P() and comes back, as result/0, as P('x', 'y'). If the next call takes it as it is, "
        "`jax.jit` compiles the function again."
    ]


def test_a_kernel_for_tpus_names_its_line_and_the_remedies(judge):
    source = HEAD + (
        "from jax.experimental import pallas as pl\n"
        "def double(x, y):\n    y[...] = x[...] * 2\n"
        "def f(x):\n    return pl.pallas_call(double, out_shape=x)(x)\n"
    )
    message, line = refusal_of(judge, source, "d=2", "x: float32[8, 128]")
    assert "Pass `interpret=True`" in message
    assert message.endswith("To see its program, choose a TPU or a GPU to compile it for.")
    assert line == 13


def test_64_bits_enter_if_the_source_enables_them(judge):
    source = HEAD + "def f(x):\n    return x.sum(0) * 2\n"
    enabled = source.replace("def f", 'jax.config.update("jax_enable_x64", True)\n\ndef f')
    program = program_of(judge, enabled, "d=2", 'x: float64[8] P("d")')
    assert [(leaf.dtype, leaf.path) for leaf in program.leaves.leaves] == [("float64", "x"), ("float64", "result")]
    assert collectives(program) == [("all-reduce", ("d",), 8, 12)]
    message, _ = refusal_of(judge, source, "d=2", "x: float64[8]")
    assert message.startswith("x is float64, which JAX takes as float32. Give it as float32, or begin the source with")


LINEN = (
    HEAD
    + """
import optax
from flax import linen as nn
from flax.training import train_state

model = nn.Dense(8)


def init(seed):
    params = model.init(jax.random.key(seed), jnp.ones((1, 16)))["params"]
    return train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optax.sgd(0.1, momentum=0.9))


def step(state, batch):
    loss = lambda params: jnp.mean((state.apply_fn({"params": params}, batch["x"]) - batch["y"]) ** 2)
    value, grads = jax.value_and_grad(loss)(state.params)
    return state.apply_gradients(grads=grads), value


f = jax.jit(step, donate_argnums=0)
"""
)


def test_a_train_state_is_donated_and_init_needs_no_mesh(judge):
    rows = ('batch/x: float32[32, 16] P("d")', 'batch/y: float32[32, 8] P("d")')
    program = program_of(judge, LINEN, "d=8", *rows, init="init")
    assert "state/params/kernel" in specs(program)
    assert in_place(program) == 2 * (16 * 8 + 8) * 4 + 4
    assert program.remarks == []


def test_a_state_that_does_not_fit_the_inputs_is_named(judge):
    source = (
        HEAD + "def init(seed):\n    return {'w': jnp.zeros(8, DTYPE)}\ndef f(state, x):\n    return state['w'], x\n"
    )
    x = "x: float32[8]"
    for dtype, inputs, said in (
        ("jnp.float32", f"{x}\nstate: float32[8]", "The state is the argument state of `f`, and an input has the same"),
        ("jnp.float8_e8m0fnu", x, "state/w has the dtype float8_e8m0fnu, which cannot be explored."),
    ):
        with pytest.raises(SubmissionFault) as refused:
            judge.inspect_function(read_function("f", "d=2", inputs, "init"), source.replace("DTYPE", dtype))
        assert str(refused.value).startswith(said)


def test_jax_has_the_better_sentence(judge):
    message, line = refusal_of(judge, HEAD + "def f(x):\n    return jnp.nonzero(x)[0]\n", "d=2", "x: float32[8]")
    assert "The size argument of jnp.nonzero must be statically specified" in message
    assert "float(" not in message
    assert line == 10


def test_the_attention_of_cudnn_names_its_line_and_what_to_do(judge):
    source = "import jax\n\ndef f(q):\n    return jax.nn.dot_product_attention(q, q, q, implementation='cudnn')\n"
    with pytest.raises(SubmissionFault) as failed:
        judge.inspect_function(read_function("f", "data=8", 'q: bfloat16[8, 64, 4, 64] P("data")'), source)
    assert failed.value.reason == "not_exportable"
    assert failed.value.detail["traceback"][-1]["line"] == 4
    assert 'Leave out `implementation="cudnn"`' in str(failed.value)
    assert str(failed.value).endswith("To see its program, choose a GPU to compile it for.")
