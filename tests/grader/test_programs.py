# ruff: noqa: E501  (rows of a table are easier to read whole)
"""Programs that are wrong, hostile or unusual, through the whole judge, on the smallest program-mode problem."""

from pathlib import Path

import pytest

from grader.judging.judge import Judge
from grader.package.package import Package
from grader.review.reader import read_package
from grader.verdicts.verdict import Verdict

HEAD = """
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P
"""
INIT = """
def init(mesh, seed):
    w = jax.random.normal(jax.random.key(seed), (512, 16))
    return {"w": jax.lax.with_sharding_constraint(w, NamedSharding(mesh, P("x"))), "n": jnp.zeros((), jnp.int32)}
"""
STEP = """
def step(mesh, state, x):
    mean = jnp.mean(x, axis=0)
    w = state["w"] - 0.1 * jnp.tanh(state["w"] @ jnp.outer(mean, mean))
    w = jax.lax.with_sharding_constraint(w, NamedSharding(mesh, P("x")))
    return {"w": w, "n": state["n"] + 1}, jnp.mean(jnp.square(mean))
"""
BY_HAND = """
def step(mesh, state, x):
    def local(w, n, x):
        mean = REDUCED
        return w - 0.1 * jnp.tanh(w @ jnp.outer(mean, mean)), n + 1, jnp.mean(jnp.square(mean))

    w, n, loss = jax.shard_map(
        local, mesh=mesh, in_specs=(P("x"), P(), P("x")), out_specs=(P("x"), P(), P()), check_vma=False
    )(state["w"], state["n"], x)
    return {"w": w, "n": n}, loss
"""
# The inputs are put on the mesh of the state, whose axes are Explicit here.
EXPLICIT = """
def explicit(mesh):
    return jax.sharding.Mesh(mesh.devices, mesh.axis_names, axis_types=(jax.sharding.AxisType.Explicit,))


def init(mesh, seed):
    w = jax.random.normal(jax.random.key(seed), (512, 16))
    return {"w": jax.device_put(w, NamedSharding(explicit(mesh), P("x"))), "n": jnp.zeros((), jnp.int32)}


def step(mesh, state, x):
    mean = jnp.mean(x, axis=0)
    w = state["w"] - 0.1 * jnp.tanh(state["w"] @ jnp.outer(mean, mean))
    return {"w": w, "n": state["n"] + 1}, jnp.mean(jnp.square(mean))
"""

# A line search: its predicates are equal on all devices because they come out of a psum. XLA merges all_reduces of
# branches and loops that are called twice, each time with others.
BRANCHES = (
    BY_HAND.replace("REDUCED", "searched(jnp.mean(x, axis=0))")
    + """


@jax.jit
def total(mean):
    return jax.lax.psum(jnp.sum(jnp.square(mean)), "x")


def searched(mean):
    def shorter(carry):
        scale, size = carry
        return scale * 0.5, total(mean * scale) + 0.0 * jax.lax.psum(jnp.max(mean), "x")

    scale, _ = jax.lax.while_loop(lambda carry: carry[1] > 1e9, shorter, (1.0, total(mean)))
    mean = jax.lax.pmean(mean, "x")
    return scale * jax.lax.cond(
        total(mean) > 1e9,
        lambda: jax.lax.all_gather(mean, "x")[0],
        lambda: jax.lax.psum(jax.lax.psum_scatter(mean, "x", tiled=True), "x")[0] * 0.0 + mean,
    )
"""
)
# Each of these runs its own native code, or compiles to one of the library's comparisons.
NATIVE = (
    STEP.replace(
        ", jnp.mean(jnp.square(mean))",
        ", jnp.mean(jnp.square(mean)) + 0.0 * everything(jnp.outer(mean, mean) + 4 * jnp.eye(16), mean)",
    )
    + """

def everything(a, b):
    results = [
        jnp.linalg.cholesky(a), jnp.linalg.qr(a), jnp.linalg.svd(a), jnp.linalg.eigh(a), jnp.linalg.solve(a, b),
        jax.lax.top_k(b, 3)[0], jnp.sort(b), jnp.argsort(a), jnp.fft.rfft(b).real,
        jax.random.normal(jax.random.key(0), (4,)), jax.random.permutation(jax.random.key(1), b),
    ]
    return sum(jnp.sum(leaf) for leaf in jax.tree.leaves(results))
"""
)
# The pivots of a 16 x 16 matrix are 16 numbers; any further numbers come from the verifier's memory.
STALE = (
    STEP.replace(
        ", jnp.mean(jnp.square(mean))",
        ", jnp.mean(jnp.square(mean)) + jnp.sum(pivots(jnp.outer(mean, mean)))",
    )
    + """

def pivots(matrix):
    shapes = [((16, 16), "float32"), ((8192,), "int32"), ((), "int32")]
    return jax.ffi.ffi_call("lapack_sgetrf_ffi", [jax.ShapeDtypeStruct(*each) for each in shapes])(matrix)[1]
"""
)


@pytest.fixture(scope="session")
def move_mean() -> Package:
    return read_package(Path(__file__).parent / "packages" / "move_mean")


@pytest.fixture
def verdict_of(judge: Judge, move_mean: Package):
    return lambda source: judge.judge(move_mean, HEAD + source)


def test_settings_of_devices_need_not_be_removed(verdict_of):
    settings = 'jax.config.update("jax_num_cpu_devices", 8)\njax.distributed.initialize()\n'
    assert verdict_of(settings + INIT + STEP).status == "accepted"


def test_a_mesh_of_its_own_fits_one_mesh_and_the_message_says_so(verdict_of):
    own = 'own = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))\n'
    by_hand = BY_HAND.replace("REDUCED", 'jax.lax.pmean(jnp.mean(x, axis=0), "x")').replace("mesh=mesh", "mesh=own")
    verdict = verdict_of(own + INIT + by_hand)
    assert verdict.status == "rejected"
    said = "makes the mesh x=8, but the program is compiled for x=4. Make the two equal, or take `mesh` as the first"
    assert said in told(verdict)


def failed(verdict: Verdict) -> list[str]:
    return [check.id for check in verdict.checks if not check.passed]


def told(verdict: Verdict) -> str:
    return "\n".join(check.message for check in verdict.checks if not check.passed)


@pytest.mark.parametrize(
    "source",
    [
        INIT + STEP,
        INIT + BY_HAND.replace("REDUCED", 'jax.lax.pmean(jnp.mean(x, axis=0), "x")'),
        EXPLICIT,
    ],
    ids=["partitioner", "by hand", "explicit mesh"],
)
def test_every_style_is_accepted(verdict_of, source):
    verdict = verdict_of(source)
    assert told(verdict) == ""
    assert verdict.status == "accepted"


def test_a_program_may_call_native_kernels(verdict_of):
    verdict = verdict_of(INIT + NATIVE)
    assert [case.id for case in verdict.cases if not case.passed] == []
    # The matrices take more than the reference's temporaries.
    assert failed(verdict) == ["memory"], told(verdict)


def test_branches_that_all_devices_take_may_hold_different_collectives(verdict_of):
    verdict = verdict_of(INIT + BRANCHES)
    assert [case.message for case in verdict.cases if not case.passed] == []


@pytest.mark.parametrize(
    ("init", "step", "reason", "check", "said"),
    [
        (INIT.replace('P("x")', "P()"), STEP, "wrong_sharding", "sharding", "Every device holds the whole leaf"),
        (INIT, STEP.replace('P("x")', "P()"), "wrong_sharding", "sharding", "with_sharding_constraint"),
        (
            INIT.replace("    return", "    w = jax.lax.with_sharding_constraint(w, NamedSharding(mesh, P())) * 1.0\n    return"),
            STEP,
            "too_much_memory",
            "init_memory",
            "creating it takes more",
        ),
        (INIT, BY_HAND.replace("REDUCED", 'jax.lax.pmean(jnp.mean(x, axis=0), "x")').replace("n + 1, jnp.mean(jnp.square(mean))", "n + 1, jnp.mean(jnp.square(mean)) * (1.0 + jax.lax.axis_index('x'))"), "wrong_value", "values", "devices that should hold"),
        (
            INIT,
            BY_HAND.replace("REDUCED", 'jnp.mean(jax.lax.all_gather(x, "x", tiled=True), axis=0)'),
            "wrong_communication",
            "batch",
            "gathers all 24 rows",
        ),
        (
            INIT,
            STEP.replace("jnp.mean(x, axis=0)", "jax.lax.while_loop(lambda c: jnp.sum(c[0]) < -1, "
            "lambda c: (c[0] + jnp.mean(jnp.sin(x * c[0]), axis=0), c[1]), (jnp.mean(x, axis=0), jnp.sum(x)))[0]"),
            "wrong_communication",
            "collectives",
            "trip count",
        ),
        # One collective of a kind is counted and another one is not: the explanation has to compare them.
        (
            INIT,
            STEP.replace("    mean = jnp.mean(x, axis=0)", "    rounds = lambda c: (c[0] + jnp.mean(jnp.sin(x * c[0]), axis=0), c[1] + 1)\n"
            "    mean = jax.lax.fori_loop(0, 3, lambda _, c: rounds(c), (jnp.mean(x, axis=0), 0))\n"
            "    mean = jax.lax.while_loop(lambda c: jnp.sum(c[0]) < -1, rounds, mean)[0]"),
            "wrong_value",
            "values",
            "trip count",
        ),
        (INIT.replace("jnp.zeros((), jnp.int32)", "0"), STEP.replace('state["n"] + 1', 'state["n"] + jnp.int32(1)'), "retraced", "retrace", "weak type"),
        (INIT, STEP.replace("jnp.tanh(", "jnp.tanh(0 * jnp.cos(mean) + "), "wrong_structure", "operations", "uses stablehlo.cosine"),
        (INIT, STEP.replace('"n": state["n"] + 1', '"n": state["n"] + 1.0'), "wrong_dtype", "values", "leaves it with float32"),
        (INIT.replace("jnp.int32", "jnp.int4"), STEP, "wrong_dtype", "values", "leaf n is int4, which is not among the dtypes that can be returned. Return int8"),
        (INIT, STEP.replace("jnp.mean(jnp.square(mean))", "jnp.mean(mean).astype(jnp.uint4)"), "wrong_dtype", "values", "leaf loss is uint4, which"),
        (INIT, STEP.replace('"n": state["n"] + 1', '"m": state["n"] + 1'), "wrong_structure", "values", "not in the state of init: m"),
        (INIT.replace('"n": jnp', '"k": jnp').replace("return {", "return {"), STEP.replace('"n"', '"k"'), "wrong_structure", "values", "missing: n"),
        (INIT, STEP.replace(", jnp.mean(jnp.square(mean))", ""), "wrong_structure", "values", "(state, loss). It returns a dict."),
        (INIT, STEP.replace("return {", "result = {"), "wrong_structure", "values", "It returns None. Does every path"),
        (INIT, STEP.replace("def step", "async def step"), "wrong_structure", "values", "Write `def step` instead of `async def step`."),
        (INIT, STEP.replace("jnp.mean(jnp.square(mean))", "{'loss': jnp.mean(mean), 'rows': mean}"), "wrong_structure", "values", "one array. It is a dict."),
        (INIT, STEP.replace("    mean", '    jax.debug.print("{}", x)\n    mean', 1), "not_exportable", "values", 'jax.debug.print("{}", x)'),
        (INIT, STEP.replace("    mean", "    x = jax.pure_callback(lambda v: v, x, x)\n    mean", 1), "not_exportable", "values", "pure_callback"),
        (INIT, STEP.replace("    mean", "    if x.sum() > 0:\n        x = -x\n    mean", 1), "not_exportable", "values", "lax.cond"),
        (INIT, STEP.replace("jnp.mean(x, axis=0)", "jnp.mean(np.sin(x), axis=0)"), "not_exportable", "values", "jax.numpy"),
        (INIT.replace("key(seed)", "key(int(seed))"), STEP, "not_exportable", "values", "Remove"),
        (INIT.replace("def init", "def start"), STEP, "missing_entry", "values", "does not define `init`"),
        (INIT, STALE, "not_exportable", "values", "lapack_sgetrf_ffi"),
        (INIT, STEP.replace("x, axis=0)", "jax.lax.sort(x, dimension=0, is_stable=False), axis=0)"), "not_exportable", "values", "is_stable=True"),
        (INIT, STEP.replace('P("x")', 'P("y")'), "error", "values", "y"),
        (INIT, STEP.replace("    mean", "    print(x.sharding)\n    mean", 1), "error", "values", "use `jax.typeof(x)`"),
    ],
)  # fmt: skip
def test_a_wrong_program_is_rejected_and_explained(verdict_of, init, step, reason, check, said):
    verdict = verdict_of(init + step)
    assert (verdict.status, verdict.reason) == ("rejected", reason), told(verdict)
    assert failed(verdict)[0] == check
    assert said in told(verdict)
    assert verdict.efficiency is None


FORGE = """
import sys

from grader.confined.artifact import artifact_of


def forge(change):
    original = jax.export.export

    def export(function, **options):
        def exported(*avals):
            return change(function, avals, original)

        return exported

    jax.export.export = export
    exporting = sys.modules["grader.runner.tracing"]
    exporting.artifact_of = lambda made: made if isinstance(made, bytes) else artifact_of(made)
"""


@pytest.mark.parametrize(
    ("forgery", "said"),
    [
        ("lambda f, avals, original: b'no program at all' * 9", "cannot be read"),
        ("lambda f, avals, original: artifact_of(original(f)(*avals))[:-200]", ""),
        # MLIR's reader of bytecode believes what it reads, so nobody's bytecode is read.
        ("lambda f, avals, original: bytes(original(f)(*avals).serialize())", "cannot be read"),
        # A program for one device computes the same numbers without communication.
        (
            "lambda f, avals, original: original(jax.jit(lambda *a: a))"
            "(*[jax.ShapeDtypeStruct(a.shape, a.dtype) for a in avals])",
            "a mesh other than",
        ),
        ("lambda f, avals, original: original(jax.jit(lambda *a: f(*a)))(*avals[:-1], avals[0])", ""),
        (
            "lambda f, avals, original: original(jax.jit(lambda *a: (*f(*a)[:-1], "
            "jax.ffi.ffi_call('do_evil', jax.ShapeDtypeStruct((), 'float32'))(a[0][0, 0]))), "
            "disabled_checks=[jax.export.DisabledSafetyCheck.custom_call('do_evil')])(*avals)",
            "",
        ),
        # Every device would have all rows, and no communication would be necessary.
        (
            "lambda f, avals, original: original(f)(*[a if a.shape != (24, 16) else jax.ShapeDtypeStruct("
            "a.shape, a.dtype, sharding=NamedSharding(a.sharding.mesh, P())) for a in avals])",
            "cannot choose the sharding",
        ),
        # A program of `init` that needs little memory, and did not make the state.
        (
            "lambda f, avals, original: original(f)(*avals) if len(avals) > 1 else original(jax.jit(lambda seed: ("
            "jnp.zeros((), jnp.int32), jax.lax.with_sharding_constraint(jnp.zeros((512, 16)), NamedSharding("
            "avals[0].sharding.mesh, P('x'))))))(*avals)",
            "in the state that `init` returns",
        ),
    ],
    ids=["junk", "cut off", "bytecode", "one device", "other inputs", "custom call", "whole batch", "another init"],
)
def test_a_forged_program_is_refused(verdict_of, forgery, said):
    verdict = verdict_of(INIT + STEP + FORGE + f"\n\nforge({forgery})\n")
    assert verdict.status == "rejected"
    assert said in told(verdict)
    assert not any(case.passed for case in verdict.cases)


@pytest.mark.parametrize(
    "change", ["outputs.reverse()", "outputs.pop()", "outputs.append('more')", "outputs[0] = exported.outputs[1]"]
)
def test_leaves_under_false_names_gain_nothing(verdict_of, change):
    """The names of leaves come out of the process that ran the submission; the arrays do not."""
    lie = """
import sys
served = sys.modules["grader.runner.serve"]
honest = served.export_program

def lying(*given):
    exported = honest(*given)
    exported.CHANGE
    return exported

served.export_program = lying
"""
    verdict = verdict_of(INIT + STEP + lie.replace("CHANGE", change))
    assert (verdict.status, verdict.score) == ("rejected", 0)


def test_a_malformed_frame_while_a_later_mesh_is_exported_rejects(verdict_of):
    lie = """
import os
import stat

def on_the_channel(mesh):
    for descriptor in range(3, 256 if mesh.size == 4 else 0):
        try:
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                os.write(descriptor, b"no frame at all")
        except OSError:
            continue
"""
    verdict = verdict_of(INIT + STEP.replace("    mean", "    on_the_channel(mesh)\n    mean", 1) + lie)
    assert (verdict.status, verdict.reason, verdict.score) == ("rejected", "output_limit", 0)


ENDLESS = STEP.replace("jnp.mean(x, axis=0)", "jax.lax.while_loop(lambda c: c[1] >= 0, lambda c: (c[0] + 1, c[1] * 1), "
                       "(jnp.mean(x, axis=0), jnp.ones((), jnp.int32)))[0]")  # fmt: skip
HUGE = STEP.replace("jnp.mean(x, axis=0)", "jnp.mean(x, axis=0) + jnp.sum(jnp.sin(jnp.arange(2.0**29) * jnp.sum(x)).reshape(-1, 16), axis=0)[:16] * jnp.sort(jnp.arange(2.0**29) * jnp.sum(x))[0]")  # fmt: skip
DIVERGENT = BY_HAND.replace(
    "REDUCED",
    'jax.lax.cond(jax.lax.axis_index("x") == 0, lambda m: jax.lax.pmean(m, "x"), lambda m: m, jnp.mean(x, axis=0))',
)
# All devices meet in one place there, with buffers of one element and of four thousand.
MEETING = BY_HAND.replace(
    "REDUCED",
    """jax.lax.cond(
            jax.lax.axis_index("x") == 0,
            lambda m: jax.lax.all_gather(jnp.tile(m, 256), "x")[1, -16:],
            lambda m: jax.lax.all_gather(m[:1], "x")[1, 0] + m,
            jnp.mean(x, axis=0),
        )""",
)


@pytest.mark.parametrize(
    ("step", "reason", "said"),
    [
        (ENDLESS, "time_limit", "while your compiled program ran public-1 on mesh x=8"),
        (HUGE, "memory_limit", "GiB on each device"),
        (DIVERGENT, "divergent_collective", "an all_reduce"),
        (MEETING, "divergent_collective", "an all_gather"),
    ],
    ids=["endless", "huge", "divergent", "meeting in different collectives"],
)
def test_what_ends_a_verifier_is_told_and_harms_nobody_else(verdict_of, step, reason, said):
    verdict = verdict_of(INIT + step)
    assert (verdict.status, verdict.reason) == ("rejected", reason), told(verdict)
    assert said in told(verdict)
    assert verdict_of(INIT + STEP).status == "accepted"


@pytest.mark.parametrize("collective", ["ppermute(two, 'x', [(0, 1), (1, 0)])", "all_gather(two, 'x')[0]"])
def test_elements_of_two_bits_are_refused_before_they_run(verdict_of, collective):
    """XLA:CPU moves them with a wrong width, in the memory of the verifier that all share."""
    two = "jnp.mean(x, axis=0) + 0 * jax.lax.COLLECTIVE.astype(x.dtype)".replace("COLLECTIVE", collective)
    step = BY_HAND.replace("        mean = REDUCED", f"        two = x[0].astype(jnp.int2)\n        mean = {two}")
    verdict = verdict_of(INIT + step)
    assert (verdict.status, verdict.reason) == ("rejected", "not_exportable"), told(verdict)
    assert "an array of `int2` on line" in told(verdict)
    assert verdict_of(INIT + STEP).status == "accepted"


NESTED = """

def deeper(inner):
    return lambda m: jax.lax.fori_loop(0, 2, lambda _, each: inner(each), m)


def nested(m):
    def inner(m):
        return m + 1

    for _ in range(40):
        inner = deeper(inner)
    return inner(m)


def chained(m):
    for _ in range(6000):
        m = m + x_of(m)
    return m


def x_of(m):
    return jnp.flip(m)
"""
BRACKETS = """
def bracketed(f, avals, original):
    import dataclasses

    exported = original(f)(*avals)
    text = exported.mlir_module().replace("attributes {", "attributes {a = " + "[" * 100_000 + "]" * 100_000 + ", ", 1)
    module = dataclasses.replace(exported, mlir_module_serialized=text.encode(), disabled_safety_checks=())
    return bytes(module.serialize())


forge(bracketed)
"""


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (STEP.replace("jnp.mean(x, axis=0)", "nested(jnp.mean(x, axis=0))") + NESTED, "loops and branches within one"),
        (STEP.replace("jnp.mean(x, axis=0)", "chained(jnp.mean(x, axis=0))") + NESTED, "a chain of more than 2,000"),
        (STEP + FORGE + BRACKETS, "brackets more than 200 deep"),
    ],
    ids=["loops", "a chain", "brackets"],
)
def test_a_program_too_deep_for_the_compiler_is_refused_with_what_was_counted(verdict_of, source, said):
    """The verifier that all share would overflow its stack."""
    verdict = verdict_of(INIT + source)
    assert (verdict.status, verdict.reason) == ("rejected", "not_exportable"), told(verdict)
    assert said in told(verdict)
    assert ("line" in told(verdict)) == ("brackets" not in said)
    assert verdict_of(INIT + STEP).status == "accepted"


def test_hidden_values_never_reach_the_submission(verdict_of):
    """What is traced has shapes and no values, so there is nothing to print."""
    verdict = verdict_of(INIT + STEP.replace("    mean", "    print(x)\n    mean", 1))
    assert verdict.status == "accepted"
    assert "float32[24,16]" in verdict.stdout
