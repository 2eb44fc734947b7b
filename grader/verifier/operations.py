"""The closed list of operations that an exported program can contain, checked in its StableHLO before compilation.

For operations with fixed shapes, MLIR checks the result's shape when it reads the program, and XLA does when it
compiles, so a result is exactly as large as what is computed. Operations that are not listed have no such check (custom
calls), take sizes from values (dynamic shapes), or reach the host.
"""

from grader.program.stablehlo import ExportedProgram
from grader.runner.artifact import APPROX_TOP_K, ONLY_ON_CHIPS, TPU_KERNEL
from grader.verifier.errors import OnlyOnChips, ProgramRefused
from grader.verifier.kernels import KERNELS

_STABLEHLO = """
    abs add all_gather all_reduce all_to_all and atan2 batch_norm_grad batch_norm_inference batch_norm_training
    bitcast_convert broadcast_in_dim case cbrt ceil cholesky clamp collective_permute compare complex
    composite concatenate constant convert convolution cosine count_leading_zeros custom_call divide dot_general
    dynamic_slice dynamic_update_slice exponential exponential_minus_one fft floor gather if imag iota is_finite log
    log_plus_one logistic maximum minimum multiply negate not optimization_barrier or pad partition_id popcnt power real
    reduce reduce_precision reduce_scatter reduce_window remainder replica_id reshape return reverse rng_bit_generator
    round_nearest_afz round_nearest_even rsqrt scatter select select_and_scatter shift_left shift_right_arithmetic
    shift_right_logical sign sine slice sort sqrt subtract tan tanh transpose triangular_solve while xor
""".split()
_SHARDY = "manual_computation mesh named_computation propagation_barrier reshard return sharding_constraint".split()
OPERATIONS = frozenset(
    [f"func.{name}" for name in ("call", "func", "return")]
    + [f"stablehlo.{name}" for name in _STABLEHLO]
    + [f"sdy.{name}" for name in _SHARDY]
)
# Operations that communicate with the host, which is not part of the program.
_HOST_OPERATIONS = {"stablehlo.infeed", "stablehlo.outfeed", "stablehlo.send", "stablehlo.recv"}
_ADVICE = {
    "stablehlo.rng": "`lax.rng_uniform` has no seed. Use `jax.random`.",
}


def check_operations(module: ExportedProgram, *, for_chip: bool = False, for_tpus: bool = False) -> None:
    """Check every operation, and the target of every custom call.

    Args:
      for_chip: the program is compiled for chips, and never run.
      for_tpus: it was exported for TPUs, so it may contain their kernels.
    Raises:
      ProgramRefused: `not_exportable`; one of them is not listed, or a shape depends on values.
      OnlyOnChips: everything is listed, but XLA cannot compile it for CPUs.
    """
    for target in module.custom_calls:
        # `without_approximations` has checked the calls of APPROX_TOP_K, and leaves none in a program for CPUs.
        allowed = KERNELS | {ONLY_ON_CHIPS} | ({APPROX_TOP_K} if for_chip else set())
        if target not in allowed and not (for_tpus and target == TPU_KERNEL):
            advice = _ADVICE.get(target, "")
            raise ProgramRefused(
                "not_exportable",
                f"The program calls `{target[:80]}`, which a program here must not call. {advice}".rstrip(),
            )
    for name in module.operations:
        if name in _HOST_OPERATIONS:
            raise ProgramRefused(
                "not_exportable", f"The program exchanges data with the host (`{name}`), which a program here must not."
            )
        if name not in OPERATIONS:
            advice = _ADVICE.get(name, "")
            raise ProgramRefused(
                "not_exportable",
                f"The program contains `{name[:80]}`, which a program here must not. {advice}".rstrip(),
            )
    if module.dynamic:
        raise ProgramRefused("not_exportable", "The program contains an array whose shape is not fixed.")
    if ONLY_ON_CHIPS in module.custom_calls and not for_chip:
        raise OnlyOnChips(ONLY_ON_CHIPS)
