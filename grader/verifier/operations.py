"""Check each operation of an exported program against the closed list, before compilation."""

from grader.confined.artifact import APPROX_TOP_K, CHIP_CALLS, ONLY_ON_CHIPS
from grader.program.operations import OPERATIONS
from grader.program.stablehlo import ExportedProgram
from grader.verifier.errors import OnlyOnChips, ProgramRefused
from grader.verifier.kernels import KERNELS

# Operations that communicate with the host, which is not part of the program.
_HOST_OPERATIONS = {"stablehlo.infeed", "stablehlo.outfeed", "stablehlo.send", "stablehlo.recv"}
_ADVICE = {
    "stablehlo.rng": "`lax.rng_uniform` has no seed. Use `jax.random`.",
}


def check_operations(module: ExportedProgram, lowered: str = "cpu", *, for_chip: bool = False) -> None:
    """Check every operation, and the target of every custom call.

    Args:
      lowered: the platform for which JAX lowered the program. For chips, it may call their libraries.
      for_chip: the program is compiled for chips, and never run.
    Raises:
      ProgramRefused: `not_exportable`; one of them is not listed, or a shape depends on values.
      OnlyOnChips: everything is listed, but XLA cannot compile it for CPUs.
    """
    for target in module.custom_calls:
        # `without_approximations` has checked the calls of APPROX_TOP_K, and leaves none in a program for CPUs.
        allowed = CHIP_CALLS.get(lowered, KERNELS)
        if target not in allowed | {ONLY_ON_CHIPS} | ({APPROX_TOP_K} if for_chip else set()):
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
