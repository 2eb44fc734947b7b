"""All uses of JAX's private names, and the differences between the two releases of JAX that the grader supports.

tests/grader/confined/test_private_jax.py lists each name with the test that needs it, and checks that no other module
of the grader uses one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, TypeAlias

import jax
import numpy as np
from jax._src import compilation_cache, compiler, custom_partitioning, sharding_impls, source_info_util, xla_bridge
from jax._src.compilation_cache_interface import CacheInterface as CacheInterface
from jax._src.cudnn import fused_attention_stablehlo
from jax._src.interpreters import mlir, partial_eval
from jax.extend.core import JaxprEqn
from jax.extend.core.primitives import jit_p
from jax.extend.mlir import ir
from jax.sharding import NamedSharding
from jaxlib.mlir import passmanager

# JAX imports these when it starts a backend and lowers a program, which would take 9 ms in each fork.
from jaxlib.mlir.dialects import builtin as builtin
from jaxlib.mlir.dialects import mhlo as mhlo

LINE = jax.__version_info__[:2]
_GET_OPTIONS: Any = compiler.get_compile_options
_READ_EXECUTABLE: Any = compilation_cache.get_executable_and_time
_MAKE_CONTEXT = mlir.make_ir_context
_DEVICES, _LOCAL_DEVICES = xla_bridge.devices, xla_bridge.local_devices
# The first release of JAX whose compiler rejects an option.
_OPTIONS_GONE = {"xla_cpu_use_fusion_emitters": (0, 12)}
# A cuDNN that has every kind of attention that JAX writes; pip installs it or a later one beside JAX for GPUs.
_CUDNN = 91100
# Writes one equation of a jaxpr as StableHLO: it takes the context, the operands and the equation's parameters.
LoweringRule: TypeAlias = Callable[..., Any]


def install_cache(cache: CacheInterface) -> None:
    """Make `cache` the persistent compilation cache of this process, which has compiled nothing yet."""
    compilation_cache._cache = cache
    compilation_cache._cache_initialized = True
    compilation_cache._cache_checked = compilation_cache._cache_used = True
    # The cache stays in memory, so compressing its entries would be a waste of time.
    compilation_cache.compress_executable = compilation_cache.decompress_executable = _as_it_is
    # Loading an executable from its bytes takes half as long as tracing and lowering it. A warmup has loaded most of
    # those that a submission asks for, so keep them.
    executables: dict[str, tuple[object, object]] = {}

    def read_executable(key: str, *args: object) -> tuple[object, object]:
        found: tuple[object, object] = executables.get(key) or _READ_EXECUTABLE(key, *args)
        if found[0] is not None:
            executables[key] = found
        return found

    seam: Any = compilation_cache
    seam.get_executable_and_time = read_executable


def share_lowering_context() -> None:
    """Use one new MLIR context for all lowerings from now on. JAX 0.10 makes one per program, JAX 0.12 one per ten, so
    there it is only new after ten programs.
    """
    context = _MAKE_CONTEXT()
    mlir.make_ir_context = lambda: context


def lowering_context() -> AbstractContextManager[object]:
    """A context manager in which MLIR knows the dialects that JAX lowers to."""
    return mlir.make_ir_context()


def propagated(text: str) -> ir.Module:
    """Read a module of StableHLO, and let Shardy decide the sharding of every value, as XLA does before it partitions.
    Called inside `lowering_context`.
    """
    module = ir.Module.parse(text)
    passmanager.PassManager.parse("builtin.module(sdy-propagation-pipeline)").run(module.operation)
    return module


def backend_is_started() -> bool:
    return bool(xla_bridge.backends_are_initialized())


def show_devices(number: int) -> None:
    """Let code in this process find only its first `number` devices."""

    def devices(backend: Any = None) -> list[jax.Device]:
        found: list[jax.Device] = _DEVICES(backend)[:number]
        return found

    def local_devices(process_index: int | None = None, backend: Any = None) -> list[jax.Device]:
        found: list[jax.Device] = _LOCAL_DEVICES(process_index, backend)[:number]
        return found

    def device_count(backend: Any = None) -> int:
        return len(devices(backend))

    modules: tuple[Any, ...] = (xla_bridge, jax)
    for module in modules:
        module.devices, module.local_devices = devices, local_devices
        module.device_count = module.local_device_count = device_count


def check_number_of_cpus(check: Callable[[int], None]) -> None:
    """Let `check` decide which values of `jax_num_cpu_devices` this process accepts. JAX refuses all of them once its
    backend is started.
    """

    def parse(number: int) -> int:
        check(number)
        return number

    holder: Any = xla_bridge.num_cpu_devices
    holder._parser = parse


@contextmanager
def without_compiler_options() -> Iterator[dict[str, object]]:
    """While a function is traced, leave out the compiler options of inner calls of `jax.jit`, which JAX would refuse.

    Yields:
      the options left out so far, by name.
    """
    found: dict[str, object] = {}
    rules: Any = partial_eval.custom_staging_rules
    rule = rules[jit_p]

    def rule_without_options(trace: object, source_info: object, *args: object, **params: Any) -> object:
        found.update(params["compiler_options_kvs"])
        return rule(trace, source_info, *args, **(params | {"compiler_options_kvs": ()}))

    rules[jit_p] = rule_without_options
    try:
        yield found
    finally:
        rules[jit_p] = rule


@contextmanager
def beside_a_gpu(capability: int) -> Iterator[None]:
    """Let JAX trace the attention of cuDNN as it does beside a GPU.

    Args:
      capability: the first number of the GPU's CUDA compute capability.
    """
    seam: Any = fused_attention_stablehlo
    usual = (
        fused_attention_stablehlo.check_cudnn_version,
        fused_attention_stablehlo.check_compute_capability,
        fused_attention_stablehlo.is_cuda_compute_capability_equal,
    )
    seam.check_cudnn_version = lambda: _CUDNN
    seam.check_compute_capability = lambda least: capability >= float(least)
    seam.is_cuda_compute_capability_equal = lambda other: capability == float(other)
    try:
        yield
    finally:
        seam.check_cudnn_version, seam.check_compute_capability, seam.is_cuda_compute_capability_equal = usual


def partition_by_callback(context: Any, *values: object, **parameters: Any) -> Any:
    """Write a `custom_partitioning` as JAX does: XLA calls Python back to divide it, unless it is divided already."""
    return custom_partitioning._custom_partitioning_lowering_rule(context, *values, **parameters)


def mesh_to_divide(context: Any) -> jax.sharding.Mesh | None:
    """The mesh whose axes XLA still divides where this operation is written; None inside a `shard_map`."""
    axes = context.module_context.axis_context
    if not isinstance(axes, sharding_impls.ShardingContext) or axes.abstract_mesh is None or axes.num_devices == 1:
        return None
    shape, names = axes.abstract_mesh.axis_sizes, axes.abstract_mesh.axis_names
    return jax.sharding.Mesh(np.array(axes.device_assignment).reshape(shape), names)


def write_function(context: Any, function: Callable[..., Sequence[object]], values: Sequence[object]) -> Any:
    """Write what `function` computes from these values, without the shardings in the types of Explicit axes."""
    plain = context.replace(avals_in=[jax.core.ShapedArray(each.shape, each.dtype) for each in context.avals_in])
    return mlir.lower_fun(function, multiple_results=True)(plain, *values)


def text_with(rule: LoweringRule, traced: jax.stages.Traced, platform: str) -> str:
    """The StableHLO of a traced program for a platform. `rule` writes each `custom_partitioning`."""
    rules = ((custom_partitioning.custom_partitioning_p, rule),)
    parameters: Any = mlir.LoweringParameters(override_lowering_rules=rules)
    text: str = traced.lower(lowering_platforms=(platform,), _private_parameters=parameters).as_text()
    return text


def exported_with(
    rule: LoweringRule, jitted: jax.stages.Wrapped, platform: str, checks: Sequence[jax.export.DisabledSafetyCheck]
) -> Callable[..., jax.export.Exported]:
    """The exporter of a function for a platform without these safety checks. `rule` is that of `text_with`."""
    rules = ((custom_partitioning.custom_partitioning_p, rule),)
    return jax.export.export(jitted, platforms=[platform], disabled_checks=checks, _override_lowering_rules=rules)


class SourceFrame(Protocol):
    """One call in a traceback of JAX."""

    @property
    def file_name(self) -> str: ...
    @property
    def function_name(self) -> str: ...
    @property
    def start_line(self) -> int: ...


def user_frames(equation: JaxprEqn) -> Iterator[SourceFrame]:
    """The calls that led to an equation of a jaxpr, innermost first, without those inside JAX."""
    return iter(source_info_util.user_frames(equation.source_info.traceback))


def named_shardings(exported: jax.export.Exported) -> tuple[NamedSharding | None, ...]:
    """The sharding of each input of an exported program, then of each output; None for one without a NamedSharding."""
    return (*exported._in_named_shardings, *exported._out_named_shardings)


def known_options(options: Mapping[str, str | bool]) -> dict[str, str | bool]:
    """Drop the compiler options that this release of JAX does not support."""
    return {name: value for name, value in options.items() if name not in _OPTIONS_GONE or _OPTIONS_GONE[name] > LINE}


def compile_with(options: Mapping[str, str | bool]) -> None:
    """Use these options for everything that this process compiles. A call of `jax.jit` can override them."""

    known = known_options(options)

    def get_options(
        *args: object, env_options_overrides: Mapping[str, object] | None = None, **named: object
    ) -> object:
        return _GET_OPTIONS(*args, env_options_overrides={**known, **(env_options_overrides or {})}, **named)

    seam: Any = compiler
    seam.get_compile_options = get_options


def _as_it_is(executable: bytes) -> bytes:
    return executable
