"""Each private name of JAX that the grader uses is listed here, with the test that needs it."""

import ast
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

import jax
import pytest

from grader.confined import private_jax
from grader.confined.compiler_options import COMPILER_OPTIONS
from grader.sandbox.bubblewrap import runner_environment
from tests.faults import for_each

CHECKOUT = Path(__file__).resolve().parents[3]
# A name of JAX, or of one of the classes below; then the test below that fails where it no longer does its work.
CLASSES = ("jax.export.Exported", "jax._src.config.State")
PRIVATE = {
    "jax._src.compilation_cache._cache": "test_what_was_compiled_is_kept_and_found",
    "jax._src.compilation_cache._cache_initialized": "test_what_was_compiled_is_kept_and_found",
    "jax._src.compilation_cache._cache_checked": "test_what_was_compiled_is_kept_and_found",
    "jax._src.compilation_cache._cache_used": "test_what_was_compiled_is_kept_and_found",
    "jax._src.compilation_cache.compress_executable": "test_what_is_kept_is_not_compressed",
    "jax._src.compilation_cache.decompress_executable": "test_what_is_kept_is_not_compressed",
    "jax._src.compilation_cache.get_executable_and_time": "test_an_executable_is_loaded_once",
    "jax._src.compilation_cache_interface.CacheInterface": "test_what_was_compiled_is_kept_and_found",
    "jax._src.config.State._parser": "test_a_number_of_cpus_is_checked_instead_of_refused",
    "jax._src.compiler.get_compile_options": "test_what_is_compiled_later_has_the_options",
    "jax._src.cudnn.fused_attention_stablehlo.check_compute_capability": "test_larger_heads_need_a_newer_gpu",
    "jax._src.cudnn.fused_attention_stablehlo.check_cudnn_version": "test_the_attention_of_cudnn_is_written",
    "jax._src.cudnn.fused_attention_stablehlo.is_cuda_compute_capability_equal": "test_larger_heads_need_a_newer_gpu",
    "jax._src.custom_partitioning._custom_partitioning_lowering_rule": "test_the_attention_of_cudnn_is_written",
    "jax._src.custom_partitioning.custom_partitioning_p": "test_the_attention_of_cudnn_is_written",
    "jax._src.interpreters.mlir.LoweringParameters": "test_the_attention_of_cudnn_is_written",
    "jax._src.interpreters.mlir.lower_fun": "test_the_attention_of_cudnn_is_written",
    "jax._src.sharding_impls.ShardingContext": "test_the_attention_of_cudnn_is_written",
    "jax._src.interpreters.partial_eval.custom_staging_rules": "test_compiler_options_of_an_inner_jit_are_left_out",
    "jax._src.interpreters.mlir.make_ir_context": "test_all_lowerings_share_one_context",
    "jax._src.source_info_util.user_frames": "test_an_equation_names_the_line_that_made_it",
    "jax._src.xla_bridge.backends_are_initialized": "test_a_backend_is_seen_once_it_is_started",
    "jax._src.xla_bridge.devices": "test_code_finds_only_as_many_devices_as_it_is_shown",
    "jax._src.xla_bridge.local_devices": "test_code_finds_only_as_many_devices_as_it_is_shown",
    "jax._src.xla_bridge.num_cpu_devices": "test_a_number_of_cpus_is_checked_instead_of_refused",
    "jaxlib.mlir.dialects.builtin": "test_a_fork_imports_nothing_more_of_jax",
    "jaxlib.mlir.dialects.mhlo": "test_a_fork_imports_nothing_more_of_jax",
    "jaxlib.mlir.passmanager.PassManager.parse": "test_shardy_places_every_value",
    "jax.export.Exported._in_named_shardings": "test_an_exported_program_tells_its_shardings",
    "jax.export.Exported._out_named_shardings": "test_an_exported_program_tells_its_shardings",
}
# The one place that may use them.
SEAM = CHECKOUT / "grader" / "confined" / "private_jax.py"
# Objects on which a single underscore means nothing: our own, and documented names of the standard library.
OURS = {"self", "cls", "os"}
INSIDE = """
import json
import sys
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from grader.confined import private_jax
from grader.runner import callback_partitioning, warm_up
from grader.confined.compiler_options import COMPILER_OPTIONS

found = {"started_before": private_jax.backend_is_started()}
warm_up.trace_common_operations()
imported = set(sys.modules)
cache = warm_up.start_backend()
found["started_after"] = private_jax.backend_is_started()
options = private_jax.compiler.get_compile_options(num_replicas=1, num_partitions=1)
found["options"] = sorted(name for name, _ in options.env_option_overrides)


def double(x):
    return x * 2  # LINE


mesh = Mesh(np.array(jax.devices()), ("ring",))
sharded = NamedSharding(mesh, P("ring"))
aval = jax.ShapeDtypeStruct((8,), jnp.float32, sharding=sharded)
exported = jax.export.export(jax.jit(double, out_shardings=sharded))(aval)
found["shardings"] = [str(each.spec) for each in private_jax.named_shardings(exported)]
contexts = {id(private_jax.mlir.make_ir_context()) for _ in range(20)}
found["contexts"] = len(contexts)
first = private_jax.mlir.make_ir_context()
private_jax.share_lowering_context()
found["new_context"] = private_jax.mlir.make_ir_context() is not first

x = np.arange(8, dtype=np.float32)
jax.jit(double)(x)
found["imported"] = sorted(name for name in set(sys.modules) - imported if name.startswith("jax"))
found["misses_first"] = cache.misses
found["kept"] = len(cache.entries)
jax.clear_caches()
jax.jit(double)(x)
found["misses_second"] = cache.misses
found["starts"] = [list(private_jax.compilation_cache.decompress_executable(entry)[:4]) == list(entry[:4])
                   for entry in cache.entries.values()]
cache.entries.update(dict.fromkeys(cache.entries, b"no executable"))
jax.clear_caches()
jax.jit(double)(x)
found["entries_after_loading"] = sorted({entry.decode("latin-1") for entry in cache.entries.values()})
equation = jax.make_jaxpr(double)(x).jaxpr.eqns[0]
found["frames"] = [(frame.function_name, frame.start_line) for frame in private_jax.user_frames(equation)]
private_jax.compile_with({"xla_no_such_option": "0"})
try:
    jax.jit(lambda x: x * 3)(x)
except Exception as error:  # the two lines of JAX raise different types, and the test below reads the message
    found["refused"] = str(error)
private_jax.compile_with(COMPILER_OPTIONS)
found["tripled"] = float(jax.jit(lambda x: x * 3)(x)[1])
with private_jax.lowering_context():
    found["placed"] = str(private_jax.propagated(exported.mlir_module()))

outer = jax.jit(jax.jit(double, compiler_options={"xla_cpu_enable_fast_math": True}))
with private_jax.without_compiler_options() as left_out:
    outer.trace(x)
found["left_out"] = left_out



def attend(q):
    return jax.nn.dot_product_attention(q, q, q, implementation="cudnn")


def attention(capability, width):
    q = jax.ShapeDtypeStruct((8, 64, 2, width), jnp.bfloat16, sharding=sharded)
    try:
        with private_jax.beside_a_gpu(capability), jax.set_mesh(mesh):
            jitted = jax.jit(attend)
            return callback_partitioning.divided_exporter(jitted, jitted.trace(q))(q).mlir_module()
    except NotImplementedError as error:
        return str(error)


found["attention"] = attention(8, 64)
found["large"] = [attention(capability, 256).strip() for capability in (8, 9)]
try:
    jax.eval_shape(attend, jax.ShapeDtypeStruct((8, 64, 2, 32), jnp.bfloat16))
except RuntimeError as error:
    found["without"] = str(error)

private_jax.show_devices(4)
found["shown"] = [len(jax.devices()), len(jax.local_devices()), jax.device_count(), jax.local_device_count()]
found["mesh"] = jax.make_mesh((4,), ("ring",)).devices.size
checked = []
private_jax.check_number_of_cpus(checked.append)
jax.config.update("jax_num_cpu_devices", 3)
found["checked"] = checked
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def inside() -> dict[str, object]:
    """The results of one process that uses all of them as a runner does."""
    environment = runner_environment() | {"PYTHONPATH": str(CHECKOUT)}
    environment["XLA_FLAGS"] += " --xla_force_host_platform_device_count=8"
    command = [sys.executable, "-W", "error::DeprecationWarning:grader", "-c", INSIDE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"On JAX {jax.__version__}:\n{done.stderr}"
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_the_grader_uses_private_names_in_one_place_only():
    elsewhere = {
        f"{path.relative_to(CHECKOUT)}: {name}"
        for path in sorted((CHECKOUT / "grader").rglob("*.py"))
        if path != SEAM
        for name in private_names(path.read_text(encoding="utf-8"))
    }
    assert elsewhere == set()


def test_each_private_name_is_listed_and_no_other():
    used = private_names(SEAM.read_text(encoding="utf-8"))
    # An attribute of a value has no module before it: it is listed with its class.
    of_values = {name for name in PRIVATE if name.startswith(CLASSES)}
    assert {name for name in used if name.startswith("jax")} == PRIVATE.keys() - of_values
    assert {name for name in used if not name.startswith("jax")} == {name.rsplit(".", 1)[1] for name in of_values}


@for_each("name", PRIVATE)
def test_this_jax_has_it(name: str):
    module, _, attribute = name.rpartition(".")
    owner = pkgutil.resolve_name(module)
    there = attribute in getattr(owner, "__dataclass_fields__", {}) or hasattr(owner, attribute)
    assert there, f"JAX {jax.__version__} has no {name}: {SEAM.name} needs another way to do what it is used for."


@for_each("name, test", PRIVATE.items())
def test_each_has_a_test_that_needs_it(name: str, test: str):
    assert callable(globals().get(test))


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import jax._src.core", {"jax._src.core"}),
        ("from jax._src import core", {"jax._src.core"}),
        ("from jax._src import core as c\nc.trace()", {"jax._src.core.trace"}),
        ("from jax._src.core import Jaxpr", {"jax._src.core.Jaxpr"}),
        ("import jax\njax._src.core.trace()", {"jax._src.core.trace"}),
        ("import jaxlib.xla_client", {"jaxlib.xla_client"}),
        ("from jaxlib import xla_client", {"jaxlib.xla_client"}),
        ("def f(exported): return exported._kept", {"_kept"}),
        ("def f(exported): return getattr(exported, '_kept')", {"_kept"}),
        ("import jax\njax.jit(self._step)\nos._exit(1)", set()),
    ],
)
def test_a_private_name_is_found_however_it_is_used(source: str, names: set[str]):
    assert private_names(source) == names


def test_a_backend_is_seen_once_it_is_started(inside: dict[str, object]):
    assert (inside["started_before"], inside["started_after"]) == (False, True)


def test_a_fork_imports_nothing_more_of_jax(inside: dict[str, object]):
    """What a fork imports, every fork imports again, and has in memory of its own."""
    assert inside["imported"] == []


def test_what_was_compiled_is_kept_and_found(inside: dict[str, object]):
    assert inside["misses_first"] == inside["kept"] != 0
    assert inside["misses_second"] == inside["misses_first"]


def test_an_executable_is_loaded_once(inside: dict[str, object]):
    # JAX would compile again what it cannot load, and store that.
    assert inside["entries_after_loading"] == ["no executable"]


def test_what_is_kept_is_not_compressed(inside: dict[str, object]):
    assert set(inside["starts"]) == {True}


def test_all_lowerings_share_one_context(inside: dict[str, object]):
    assert inside["contexts"] == 1
    # JAX 0.12 itself makes one for ten programs.
    assert inside["new_context"] or private_jax.LINE >= (0, 12)


def test_what_is_compiled_later_has_the_options(inside: dict[str, object]):
    # The compiler itself has to have seen it.
    assert "xla_no_such_option" in inside["refused"]
    assert inside["tripled"] == 3.0


def test_a_runner_compiles_for_one_execution_from_the_start(inside: dict[str, object]):
    assert inside["options"] == sorted(private_jax.known_options(COMPILER_OPTIONS))


def test_an_equation_names_the_line_that_made_it(inside: dict[str, object]):
    line = next(number for number, text in enumerate(INSIDE.splitlines(), 1) if "# LINE" in text)
    assert inside["frames"][0] == ["double", line]


def test_an_exported_program_tells_its_shardings(inside: dict[str, object]):
    assert inside["shardings"] == ["P('ring',)"] * 2


def test_shardy_places_every_value(inside: dict[str, object]):
    [product] = [row for row in inside["placed"].splitlines() if "stablehlo.multiply" in row]
    assert '{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"ring"}]>]>}' in product


def test_compiler_options_of_an_inner_jit_are_left_out(inside: dict[str, object]):
    assert inside["left_out"] == {"xla_cpu_enable_fast_math": True}


def test_the_attention_of_cudnn_is_written(inside: dict[str, object]):
    """It is divided as its operand is, and JAX misses cuDNN again afterwards."""
    [call] = [row for row in inside["attention"].splitlines() if "stablehlo.custom_call" in row]
    assert "@__cudnn$fmhaSoftmax(" in call
    assert "(tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>, tensor<1x64x2x64xbf16>)" in call
    assert inside["without"] == "cuDNN is not detected."


def test_larger_heads_need_a_newer_gpu(inside: dict[str, object]):
    older, newer = inside["large"]
    assert older == "The head dim must be <= 128 and a multiple of 8, but got 256."
    assert "module @jit_attend" in newer


def test_code_finds_only_as_many_devices_as_it_is_shown(inside: dict[str, object]):
    assert (inside["shown"], inside["mesh"]) == ([4, 4, 4, 4], 4)


def test_a_number_of_cpus_is_checked_instead_of_refused(inside: dict[str, object]):
    assert inside["checked"] == [3]


@pytest.mark.parametrize(("line", "known"), [((0, 10), {"level", "xla_cpu_use_fusion_emitters"}), ((0, 12), {"level"})])
def test_an_option_that_a_line_of_jax_has_lost_is_left_out(monkeypatch, line: tuple[int, int], known: set[str]):
    monkeypatch.setattr(private_jax, "LINE", line)
    assert set(private_jax.known_options({"level": "0", "xla_cpu_use_fusion_emitters": "False"})) == known


def private_names(source: str) -> set[str]:
    """The private names that a source uses: those of a package as its dotted path, those of a value as they are."""
    tree = ast.parse(source)
    modules, imported = {}, set()
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                for alias in node.names:
                    modules[alias.asname or alias.name.split(".")[0]] = alias.name if alias.asname else None
                    if _is_private(alias.name):
                        imported.add(alias.name)
            case ast.ImportFrom(module=str(module)):
                for alias in node.names:
                    name = f"{module}.{alias.name}"
                    modules[alias.asname or alias.name] = name
                    if _is_private(name):
                        imported.add(name)
    used = set()
    parts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node not in parts:
            used |= _private_of(node, modules)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("getattr", "setattr"):
            used |= {each.value for each in node.args[1:2] if isinstance(each, ast.Constant) and _hidden(each.value)}
    # A module that was imported only for a name in it is listed by that name.
    return used | {name for name in imported if not any(each.startswith(f"{name}.") for each in used)}


def _private_of(node: ast.Attribute, modules: dict[str, str | None]) -> set[str]:
    chain = []
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute):
        chain.append(inner.attr)
        inner = inner.value
    if isinstance(inner, ast.Name) and inner.id in modules:
        name = ".".join([modules[inner.id] or inner.id, *reversed(chain)])
        return {name} if _is_private(name) else set()
    if isinstance(inner, ast.Name) and inner.id in OURS:
        return set()
    return {part for part in chain if _hidden(part)}


def _is_private(name: str) -> bool:
    first, *others = name.split(".")
    return first == "jaxlib" or (first in ("jax", "flax", "optax") and any(_hidden(part) for part in others))


def _hidden(part: object) -> bool:
    return isinstance(part, str) and part.startswith("_") and not part.endswith("__")
